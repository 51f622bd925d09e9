"""What streams of events have besides their figures: those that were broken off, and those that never began."""

from __future__ import annotations

from loadtests.analyse.results import Cell
from loadtests.plan.kinds.stream import streams_of
from loadtests.report import tables
from loadtests.report.sections.kinds import capacity
from loadtests.report.tables import Additions, Column
from loadtests.report.view import Field


def _count(name: str) -> Column:
    def field(cell: Cell) -> Field:
        known = [found for trial in cell.valid if (found := streams_of(trial))]
        if not known:
            return tables.unknown()
        begun = sum(found.begun for found in known)
        return tables.failed(sum(getattr(found, name) for found in known), f" of {begun}")

    return field


ADDITIONS = Additions(
    columns={
        "broken": _count("broken"),
        "no event": _count("unanswered"),
        "others failed": tables.failures,
        "trials": tables.trials,
    },
    note=f"{tables.MEAN} Broken off, and without a single event by the end: the sums over valid trials.",
)
OF_CAPACITY = Additions(
    columns=capacity.ADDITIONS.columns,
    note=f"{tables.MEAN} Probes: how many the median search made.",
    tables=capacity.ADDITIONS.tables,
)
