"""What deployments have besides their figures: the requests that were lost, by kind and by client, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

from loadtests.analyse.results import Cell
from loadtests.formatting import number
from loadtests.plan.kinds.deployment import LOSSES, OF_CLIENTS, disturbed_s, done, losses, lost_by
from loadtests.records import Result, Trial
from loadtests.report import tables
from loadtests.report.tables import Additions, Column
from loadtests.report.view import Field

LOST, DISTURBED = "lost", "s not as before"
COUNTS: dict[str, Callable[[Result], int]] = {
    LOST: lambda result: sum(losses(result).values()),
    **{kind: partial(lambda result, kind: losses(result)[kind], kind=kind) for kind in LOSSES},
    **{client: partial(lost_by, client=client) for client in OF_CLIENTS},
}


def of_trials(trials: Sequence[Trial], heading: str) -> float | None:
    """The figure of a column over trials; None where no process was replaced in any."""
    if heading == DISTURBED:
        known = [seconds for trial in trials if (seconds := disturbed_s(trial)) is not None]
        return median(known) if known else None
    counts = [COUNTS[heading](trial.result) for trial in trials if trial.result and done(trial)]
    return sum(counts) if counts else None


def _column(heading: str) -> Column:
    def field(cell: Cell) -> Field:
        value = of_trials(cell.valid, heading)
        return tables.unknown() if value is None else Field(number(value), tone="bad" if value else "")

    return field


ADDITIONS = Additions(
    columns={**{heading: _column(heading) for heading in (*COUNTS, DISTURBED)}, "trials": tables.trials},
    note=f"{tables.MEAN} Lost: the sum over valid trials, by kind and by the kind of client. Seconds: the median.",
)
