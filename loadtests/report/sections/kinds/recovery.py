"""Show the usual response time, lost requests and stale copies in the report's section about recovery."""

from __future__ import annotations

import dataclasses

from loadtests.plan.recovery_time import course
from loadtests.report import tables
from loadtests.report.tables import Additions

USUAL, LOST, STALE = tables.medians(course, {"usual p50, ms": "usual_ms", "lost": "lost", "stale": "stale"})
ADDITIONS = Additions(
    columns={**tables.counts((USUAL, dataclasses.replace(LOST, bad=True), STALE)), "trials": tables.trials},
    note=f"{tables.MEAN} The columns usual, lost and stale show medians over the blocks.",
)
