"""Show the database connections that each setup opens, keeps and leaves behind, if PostgreSQL ran with the setup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loadtests.analyse.results import Cell, Results
from loadtests.plan.held_connections import BEHIND, COUNTED, HELD
from loadtests.plan.kinds import Test
from loadtests.records import Trial
from loadtests.records.trial import AT_PGBOUNCER, IDLE, IN_TRANSACTION, LEFT, OPEN
from loadtests.report import leading_counts, tables
from loadtests.report.charts import small_multiples
from loadtests.report.charts.shared import Chart, Rows
from loadtests.report.leading_counts import in_words
from loadtests.report.view import Table

ALWAYS = 6  # columns that all runs show
POINTS = 24  # maximum number of points of a line during the load
LINES = {OPEN: "open", IDLE: "idle", IN_TRANSACTION: "idle in transaction", AT_PGBOUNCER: "at PgBouncer", LEFT: "open"}


def connections(results: Results, test: Test) -> Iterator[Table]:
    """Yield a table of a test's database connections, if they were counted."""
    cells = _cells(results, test)
    trials = [trial for cell in cells for trial in cell.valid]
    if any(OPEN in trial.gauges for trial in trials):
        shown = [one for place, one in enumerate(COUNTED) if place < ALWAYS or one.over(trials) is not None]
        yield tables.listed(
            f"connections-{test.name}",
            f"Database connections: {test.description}",
            cells,
            {"setup": lambda cell: cell.label, **leading_counts.columns(shown)},
            "Open, idle, idle in transaction: the highest numbers, read ten times a second. Left: still open 10 s "
            "after the load (1 s after a load of less than 4 s). Too many clients: refused connections. At PgBouncer: "
            "the most connections of the application to PgBouncer. Pool waits: requests that waited for Django's "
            "pool. Refused connections are a sum over valid trials, and other figures are medians.",
            tables.Layout(optional=("idle", "idle in transaction")),
        )


def over_time(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of the connections over time, with a small panel for each setup, if connections were counted."""
    drawn = [trial for cell in _cells(results, test) if (trial := _typical(cell)) is not None]
    rows = [row for trial in drawn for row in _rows(trial)]
    if rows:
        title = "Database connections over time"
        lasts = max(row["t"] for row in rows)
        yield Chart(
            f"connections-over-time-{test.name}",
            f"{title}; {test.description}. The load ends at the dashed line.",
            f"{title}, {test.description}, for {lasts:.0f} seconds: {_in_words(drawn)}.",
            partial(
                small_multiples.over_time,
                rows,
                title,
                [
                    f"{test.description}, {test.engine}; the block with the median figure",
                    "seconds since the start of the measurement; the load ends at the dashed line",
                ],
            ),
            summary=f"{title}, {test.name}",
        )


def _cells(results: Results, test: Test) -> list[Cell]:
    """Return the setups' cells, sorted by the number of open connections."""
    return [results.cells[label, test.name] for label in leading_counts.ordered(results, test, HELD)]


def _typical(cell: Cell) -> Trial | None:
    """Return the valid trial with the median number of connections, or None if connections weren't counted."""
    held = [(most, trial.block, trial) for trial in cell.valid if (most := HELD.read(trial)) is not None]
    return sorted(held, key=lambda one: one[:2])[(len(held) - 1) // 2][2] if held else None


def _rows(trial: Trial) -> Rows:
    """Return the points of the lines: the maximum in each of POINTS parts of the load, and readings after the load."""
    assert trial.result is not None  # a valid trial has a result
    ended = trial.result.duration_s
    each_s = ended / POINTS
    rows: Rows = []
    for gauge, name in LINES.items():
        found: dict[float, int] = {}
        for t, value in trial.gauges.get(gauge, ()):
            at = t if gauge == LEFT else int(t / each_s) * each_s
            found[at] = max(value, found.get(at, 0))
        rows += [
            {"label": trial.label, "name": name, "t": round(at, 2), "value": value, "ended": round(ended, 2)}
            for at, value in found.items()
        ]
    return rows


def _in_words(drawn: Sequence[Trial]) -> str:
    parts = []
    for trial in drawn:
        left = BEHIND.read(trial)
        rest = "" if left is None else f", then {in_words(left)}"
        parts.append(f"{trial.label} up to {in_words(HELD.over([trial]) or 0)}{rest}")
    return "; ".join(parts)
