"""Database connections: how many a setup holds, opens and leaves behind, where a PostgreSQL ran next to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadtests.analyse.results import Results
from loadtests.plan.held_connections import COUNTED
from loadtests.plan.kinds import Test
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.trial import OPEN
from loadtests.report import leading_counts
from loadtests.report.leading_counts import in_words as in_words
from loadtests.report.view import Field, Table

COLUMNS: dict[str, TrialCount] = {counted.name: counted for counted in COUNTED}


def connections(results: Results, test: Test) -> Iterator[Table]:
    """A table of a test's database connections; none where none were counted."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    rows = [(Field(cell.label), *(leading_counts.field(cell, counted) for counted in COUNTED)) for cell in cells]
    if any(OPEN in trial.gauges for cell in cells for trial in cell.valid):
        yield Table(
            f"connections-{test.name}",
            f"Database connections: {test.description}",
            ("setup", *COLUMNS),
            tuple(rows),
            "Open, idle, idle in transaction: the most at a time, read ten times a second. Left: still open 10 s after "
            "the load (1 s after one of less than 4 s). Too many clients: connections that PostgreSQL refused. Medians "
            "over valid trials; of what was refused, the sum.",
            numeric=frozenset(range(1, len(COLUMNS) + 1)),
            optional=(2, 3),
        )


def of_trials(trials: Sequence[Trial], heading: str) -> float | None:
    """The figure of a column over trials; None where they counted no connections."""
    return COLUMNS[heading].over(trials)
