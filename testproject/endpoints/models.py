"""The two tables of TechEmpower's FrameworkBenchmarks, under the names that its rules give them."""

from django.db import models


class World(models.Model):
    """One of 10,000 rows with a number each, from 1 to 10,000."""

    id = models.IntegerField(primary_key=True)
    random_number = models.IntegerField(db_column="randomnumber")

    class Meta:
        db_table = "world"

    def as_dict(self) -> dict[str, int]:
        """The row as the rules want it in JSON."""
        return {"id": self.id, "randomNumber": self.random_number}


class Fortune(models.Model):
    """One of twelve fortune cookies."""

    id = models.IntegerField(primary_key=True)
    message = models.CharField(max_length=2048)

    class Meta:
        db_table = "fortune"
