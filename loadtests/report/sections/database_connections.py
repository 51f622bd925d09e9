"""Database connections: how many a setup holds, opens and leaves behind, where a PostgreSQL ran next to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.plan.kinds import Test
from loadtests.records import Trial
from loadtests.records.trial import IDLE, IN_TRANSACTION, LEFT, OPEN, OPENED, REFUSED
from loadtests.report import tables
from loadtests.report.view import Field, Table

Count = Callable[[Trial], float | None]


def _most(name: str) -> Count:
    return lambda trial: max((value for _, value in trial.gauges[name]), default=None) if name in trial.gauges else None


def _opened(trial: Trial) -> float | None:
    """Connections opened for 1,000 requests."""
    opened, result = _most(OPENED)(trial), trial.result
    return opened / result.completed * 1000 if opened is not None and result and result.completed else None


COLUMNS: dict[str, Count] = {
    "open": _most(OPEN),
    "idle": _most(IDLE),
    "idle in transaction": _most(IN_TRANSACTION),
    "opened/1,000 requests": _opened,
    "left": _most(LEFT),
    (SUMMED := "too many clients"): _most(REFUSED),
}
BAD = ("idle in transaction", SUMMED)


def connections(results: Results, test: Test) -> Iterator[Table]:
    """A table of a test's database connections; none where none were counted."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    rows = [(Field(cell.label), *(_field(cell, heading) for heading in COLUMNS)) for cell in cells]
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
    known = [value for trial in trials if (value := COLUMNS[heading](trial)) is not None]
    return (sum(known) if heading == SUMMED else median(known)) if known else None


def in_words(value: float) -> str:
    """A number of connections, as the table has it."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def _field(cell: Cell, heading: str) -> Field:
    value = of_trials(cell.valid, heading)
    return tables.unknown() if value is None else Field(in_words(value), tone="bad" if value and heading in BAD else "")
