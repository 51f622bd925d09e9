"""What deployments have besides their figures: the requests that were lost, by kind and by client, and for how long."""

from __future__ import annotations

from collections.abc import Sequence

from loadtests.plan.kinds import deployment
from loadtests.records import Trial
from loadtests.report import leading_counts, tables
from loadtests.report.tables import Additions

LOST, DISTURBED = deployment.LOST.name, deployment.DISTURBED.name
COUNTS = {counted.name: counted for counted in deployment.COUNTED}


def of_trials(trials: Sequence[Trial], heading: str) -> float | None:
    """The figure of a column over trials; None where no process was replaced in any."""
    return COUNTS[heading].over(trials)


ADDITIONS = Additions(
    columns={
        **{heading: leading_counts.column(counted) for heading, counted in COUNTS.items()},
        "trials": tables.trials,
    },
    note=f"{tables.MEAN} Lost: the sum over valid trials, by kind and by the kind of client. Seconds: the median.",
)
