"""Show the database connections that each setup opens, keeps and leaves behind, if PostgreSQL ran with the setup."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.held_connections import COUNTED
from loadtests.plan.kinds import Test
from loadtests.report import tables
from loadtests.report.view import Table

NOTE = (
    "Open, idle, idle in transaction: the highest numbers, read ten times a second. Left: still open 10 s after the "
    "load (1 s after a load of less than 4 s). Too many clients: refused connections. At PgBouncer: the most "
    "connections of the application to PgBouncer. Pool waits: requests that waited for Django's pool. Refused "
    "connections are a sum over valid trials, and other figures are medians."
)


def connections(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of a test's database connections, if they were counted."""
    layout = tables.Layout(optional=("idle", "idle in transaction"))
    return tables.counted_in(results, test, "connections", "Database connections", COUNTED, NOTE, layout)
