"""The database, ready for the endpoints: `manage.py prepare`."""

import contextlib
import fcntl
from collections.abc import Iterator
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, transaction

from endpoints import rows, visitor

LOCK = 20_130_328  # any number that nobody else locks: the day of the first round


class Command(BaseCommand):
    help = "Migrates the database and fills its tables. Does nothing where that is done; two may run at once."

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError, a line and exit code 1, where the database cannot be had."""
        # One connection is enough, and without a pool a server that is down is known at once.
        pool_options = {**connection.settings_dict["OPTIONS"]}
        pool_options.pop("pool", None)
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": pool_options}
        try:
            connection.ensure_connection()
            with alone():
                call_command("migrate", verbosity=0)
                with transaction.atomic():
                    rows.fill()
                    visitor.sign_in()
        except (DatabaseError, OSError) as error:
            reason = " ".join(str(error).split())
            raise CommandError(f"the database {name()} cannot be used: {reason}") from None
        self.stdout.write(f"ready: {name()}")


def name() -> str:
    """The database, as a person would call it; never with its password."""
    return f"{connection.settings_dict['NAME']} ({connection.display_name})"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Waits until no other process prepares the same database."""
    if connection.vendor == "sqlite":
        with open(f"{connection.settings_dict['NAME']}.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA journal_mode=WAL")  # readers and a writer at once; stays in the file
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
