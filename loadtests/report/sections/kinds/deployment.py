"""Show lost requests by kind and by client, and the disturbed time, in the report's section about deployments."""

from __future__ import annotations

from loadtests.plan.kinds.deployment import COUNTED
from loadtests.report import tables
from loadtests.report.tables import Additions

ADDITIONS = Additions(
    columns={**tables.counts(COUNTED), "trials": tables.trials},
    note=f"{tables.MEAN} Lost: the sum over valid trials, by kind and by the kind of client. Seconds: the median.",
)
