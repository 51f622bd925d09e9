"""What coming back after a restart has beside its figures: those that were refused, or never came back."""

from __future__ import annotations

from loadtests.report import tables
from loadtests.report.sections.additions import Additions
from loadtests.report.sections.kinds.idle import lost, refused

ADDITIONS = Additions(
    columns={"refused": refused, "never back": lost, "trials": tables.trials},
    note=f"{tables.MEAN} Refused: before the restart.",
)
