"""Show the usual response time, lost requests and stale copies in the report's section about recovery."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from loadtests.analyse.results import Cell
from loadtests.formatting import number
from loadtests.plan.recovery_time import Course, course
from loadtests.report import tables
from loadtests.report.tables import Additions, Column
from loadtests.report.view import Field


def _median(read: Callable[[Course], float], bad: bool = False) -> Column:
    """Return a column with a median over trials. ``read`` returns a trial's value from the course of its recovery."""

    def field(cell: Cell) -> Field:
        known = [read(found) for trial in cell.valid if (found := course(trial)) is not None]
        if not known:
            return tables.unknown()
        return Field(number(median(known)), tone="bad" if bad and median(known) else "")

    return field


ADDITIONS = Additions(
    columns={
        "usual p50, ms": _median(lambda found: found.usual_ms),
        "lost": _median(lambda found: found.lost, bad=True),
        "stale": _median(lambda found: found.stale),
        "trials": tables.trials,
    },
    note=f"{tables.MEAN} The columns usual, lost and stale show medians over the blocks.",
)
