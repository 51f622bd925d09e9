"""Define counts of a trial. A count has no verdict, because verdicts are ratios, and a count may be 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from loadtests.records import Trial


@dataclass(frozen=True)
class TrialCount:
    """A count in a trial. Over several trials, it is the median, or the sum if ``summed`` is true.

    Args:
        name: The heading of the count's column.
        called: The count's name in a sentence.
        read: A function that returns the count in a trial, or None if the trial lacks this value.
        summed: Whether to add up the counts of several trials.
        bad: Whether any count above 0 is a fault.
    """

    name: str
    called: str
    read: Callable[[Trial], float | None]
    summed: bool = False
    bad: bool = False

    def over(self, trials: Iterable[Trial]) -> float | None:
        """Return the median or the sum of the count over trials, or None if no trial has the count."""
        known = [value for trial in trials if (value := self.read(trial)) is not None]
        return (sum(known) if self.summed else median(known)) if known else None
