"""Prepare the database for the endpoints with `manage.py prepare`."""

import contextlib
import fcntl
from collections.abc import Iterator
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, transaction

from endpoints import rows, visitor

LOCK = 20_130_328  # the day of TechEmpower's first round, but any number that no other program locks would work


class Command(BaseCommand):
    help = "Migrates the database and fills its tables, unless they are filled. Several processes may run it at once."

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare the database.

        Raises:
            CommandError: If the database can't be used. The command then prints a line and exits with 1.
        """
        # One connection is enough. Without a pool, an unavailable server is reported immediately.
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
    """Return the name of the database for messages, without its password."""
    return f"{connection.settings_dict['NAME']} ({connection.display_name})"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process prepares the same database."""
    if connection.vendor == "sqlite":
        with open(f"{connection.settings_dict['NAME']}.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with connection.cursor() as cursor:
                # WAL allows reads while a process writes. The database file keeps this mode.
                cursor.execute("PRAGMA journal_mode=WAL")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
