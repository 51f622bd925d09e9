"""What the throughput of echoes has beside its figures: the messages that came back, second by second."""

from __future__ import annotations

from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds.throughput import charts

ADDITIONS = Additions(charts=charts)
