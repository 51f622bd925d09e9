"""Database connections: how many a setup holds, opens and leaves behind, where a PostgreSQL ran next to it."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.plan.held_connections import COUNTED
from loadtests.plan.kinds import Test
from loadtests.records.trial import OPEN
from loadtests.report import leading_counts, tables
from loadtests.report.view import Table


def connections(results: Results, test: Test) -> Iterator[Table]:
    """A table of a test's database connections; none where none were counted."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    if any(OPEN in trial.gauges for cell in cells for trial in cell.valid):
        yield tables.listed(
            f"connections-{test.name}",
            f"Database connections: {test.description}",
            cells,
            {"setup": lambda cell: cell.label, **leading_counts.columns(COUNTED)},
            "Open, idle, idle in transaction: the most at a time, read ten times a second. Left: still open 10 s after "
            "the load (1 s after one of less than 4 s). Too many clients: connections that PostgreSQL refused. Medians "
            "over valid trials; of what was refused, the sum.",
            tables.Layout(optional=("idle", "idle in transaction")),
        )
