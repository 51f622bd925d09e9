from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []  # noqa: RUF012  (Django's way)
    operations = [  # noqa: RUF012
        migrations.CreateModel(
            name="World",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                ("random_number", models.IntegerField(db_column="randomnumber")),
            ],
            options={"db_table": "world"},
        ),
        migrations.CreateModel(
            name="Fortune",
            fields=[
                ("id", models.IntegerField(primary_key=True, serialize=False)),
                ("message", models.CharField(max_length=2048)),
            ],
            options={"db_table": "fortune"},
        ),
    ]
