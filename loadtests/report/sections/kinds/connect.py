"""What opening has beside its figures: percentiles, and how far the rate is from each ceiling."""

from __future__ import annotations

from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds.latency import ceilings, percentiles

ADDITIONS = Additions(tables=ceilings, charts=percentiles)
