"""What a trial counts of which verdicts say nothing: a count may be 0, which has no ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from loadtests.records import Trial


@dataclass(frozen=True)
class TrialCount:
    """``read`` takes a trial to its count, None where the trial cannot know it. Over trials it is the median, or the
    sum with ``summed``.

    ``name`` is its column's heading, ``called`` what it is called in a sentence; ``bad``: any is a fault.
    """

    name: str
    called: str
    read: Callable[[Trial], float | None]
    summed: bool = False
    bad: bool = False

    def over(self, trials: Iterable[Trial]) -> float | None:
        """The count over trials; None where none of them knows it."""
        known = [value for trial in trials if (value := self.read(trial)) is not None]
        return (sum(known) if self.summed else median(known)) if known else None
