"""Decide from the trials of a run whether it succeeded, and whether its intervals are narrow enough."""

from __future__ import annotations

from enum import Enum

from loadtests.analyse.compare.within import widest_interval
from loadtests.analyse.results import Results
from loadtests.records.run.folder import Run
from loadtests.trials.reasons import is_setups_own


class RunOutcome(Enum):
    """The outcome of a run.

    Attributes:
        VALID: All setups have a valid trial in all tests.
        UNVERIFIED: Some figures are unverified.
        FAILED: Figures are missing, or a setup failed.
    """

    VALID = "valid"
    UNVERIFIED = "unverified"
    FAILED = "failed"


def outcome(run: Run) -> RunOutcome:
    """Return the outcome of the trials.

    The outcome is also FAILED if a setup failed (``loadtests.trials.reasons.SETUPS_OWN``) in the last attempt.
    """
    last = {trial.number: trial for trial in run.trials()}  # the last attempt replaces earlier attempts
    if any(is_setups_own(trial.flags) for trial in last.values()):
        return RunOutcome.FAILED
    cells = Results(run).cells
    measured = [cells[place] for place in dict.fromkeys((slot.label, slot.test) for slot in run.record.order)]
    if all(cell.valid for cell in measured):
        return RunOutcome.VALID
    return RunOutcome.UNVERIFIED if all(cell.valid or cell.unverified for cell in measured) else RunOutcome.FAILED


def imprecision(run: Run) -> float:
    """Return half the width of the run's widest interval as a share of its ratio (see ``within.widest_interval``)."""
    return widest_interval(list(Results(run).comparisons.values()))
