"""What the capacity for broadcasts has beside its figures: as that of requests."""

from __future__ import annotations

from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds import capacity

ADDITIONS: Additions = capacity.ADDITIONS
