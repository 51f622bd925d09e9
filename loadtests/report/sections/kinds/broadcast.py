"""What broadcasts have beside their figures: how far the rate is from each ceiling, where it was left to the run."""

from __future__ import annotations

from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds.latency import ceilings

ADDITIONS = Additions(tables=ceilings)
