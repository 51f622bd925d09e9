"""Show refused and lost connections in the section about idle connections."""

from __future__ import annotations

from loadtests.report import tables
from loadtests.report.tables import Additions

COUNTED = tables.sums(
    lambda trial: trial.result.connections if trial.result else None, {"refused": "refused", "lost": "lost"}, bad=True
)
ADDITIONS = Additions(
    columns={**tables.counts(COUNTED), "trials": tables.trials},
    note=f"{tables.MEAN} Lost: closed by the server although the connection should have stayed open.",
)
