"""What capacity has besides its figures: what kept it from being higher, and the way there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.report import tables
from loadtests.report.sections import curves
from loadtests.report.sections.additions import Additions
from loadtests.report.view import Field, Table

LIMITS = {
    "server": "server",
    "generator": "generator",
    "max_rate": "highest rate allowed",
    "probes": "probes",
    "time": "time",
}


def _limited_by(cell: Cell) -> Field:
    limits = Counter(trial.capacity.limited_by for trial in cell.valid if trial.capacity)
    if not limits:
        return tables.unknown()
    if len(limits) == 1:
        return Field(LIMITS[next(iter(limits))], tone="" if "server" in limits else "bad")
    return Field(", ".join(f"{LIMITS[limit]} {count}" for limit, count in sorted(limits.items())), tone="bad")


def _probes(cell: Cell) -> Field:
    searches = [trial.capacity.probes for trial in cell.valid if trial.capacity]
    counts = sorted(map(len, searches))
    invalid = sum(probe.outcome == "invalid" for probes in searches for probe in probes)
    if not counts:
        return tables.unknown()
    detail = f"{invalid} invalid in all" if invalid else ""
    return Field(str(counts[len(counts) // 2]), detail)


def _unsettled(results: Results, test: Test) -> Iterator[Table]:
    """The searches that found no capacity of the server, in their own words."""
    trials = [
        trial for label in results.labels for trial in results.cells[label, test.name].valid if test.why_unknown(trial)
    ]
    if trials:
        yield tables.listed(
            f"unsettled-{test.name}",
            f"{plural(len(trials), 'search', 'searches')} without a capacity of the server",
            trials,
            {
                "setup": lambda trial: trial.label,
                "block": lambda trial: str(trial.block),
                "what was found": test.why_unknown,
            },
            words=("block", "what was found"),
            only_on_pages=True,
        )


ADDITIONS = Additions(
    columns={"limited by": _limited_by, "probes": _probes, "trials": tables.trials},
    note=f"{tables.MEAN} Probes: how many the median search made.",
    tables=_unsettled,
    charts=curves.charts,
)
