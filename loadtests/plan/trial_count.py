"""Counts of a trial without verdicts. A count may be 0, so two counts may not have a ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from loadtests.records import Trial


@dataclass(frozen=True)
class TrialCount:
    """A count of a trial. Over trials, it is the median, or the sum if ``summed``.

    Args:
        name: The heading of its column.
        called: Its name in a sentence.
        read: A function from a trial to the count, or None if the trial lacks this value.
        summed: Whether to add the counts of trials.
        bad: Whether any count above 0 is a fault.
    """

    name: str
    called: str
    read: Callable[[Trial], float | None]
    summed: bool = False
    bad: bool = False

    def over(self, trials: Iterable[Trial]) -> float | None:
        """Return the count over trials, or None if no trial knows it."""
        known = [value for trial in trials if (value := self.read(trial)) is not None]
        return (sum(known) if self.summed else median(known)) if known else None
