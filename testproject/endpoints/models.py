"""Define the two tables of TechEmpower's FrameworkBenchmarks, with the names in its rules."""

from django.apps import apps
from django.db import models


class World(models.Model):
    """A row with a random number from 1 to 10,000. The table has 10,000 rows."""

    id = models.IntegerField(primary_key=True)
    random_number = models.IntegerField(db_column="randomnumber")

    class Meta:
        db_table = "world"

    def as_dict(self) -> dict[str, int]:
        """Return the row in the format that the rules require for JSON."""
        return {"id": self.id, "randomNumber": self.random_number}


if apps.is_installed("django_async_backend"):  # see ASYNC_BACKEND in docs/setups.rst
    from django_async_backend.db.models.manager import AsyncManager

    World.add_to_class("async_objects", AsyncManager())


class Fortune(models.Model):
    """A fortune cookie. The table has twelve rows."""

    id = models.IntegerField(primary_key=True)
    message = models.CharField(max_length=2048)

    class Meta:
        db_table = "fortune"
