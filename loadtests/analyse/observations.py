"""What the statistics start from: one figure of one valid trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log


@dataclass(frozen=True)
class Observation:
    """The value of a metric in the trial of a setup (by its label in the study) in a block. ``at_least``: the truth is
    that or more, for something else than the setup ended there."""

    label: str
    test: str
    block: int
    metric: str
    value: float
    at_least: bool = False


Sample = dict[int, float]
"""Block -> natural logarithm of the value; infinite for a percentile that was not reached."""
Bounds = dict[str, set[int]]
"""Label -> blocks in which its value is a lower bound."""


class Observations:
    """Observations by test, metric, label and block, as logarithms: ratios become differences. ``bounds`` are the
    blocks by the same keys in which the value is a lower bound.

    Values that are not positive have no ratio (no request was answered, no CPU time was seen) and are left out.
    Raises ValueError where a cell is given twice: repeated trials are to be settled before.
    """

    def __init__(self, observations: Iterable[Observation]) -> None:
        self.samples: dict[tuple[str, str], dict[str, Sample]] = {}
        self.bounds: dict[tuple[str, str], Bounds] = {}
        for one in observations:
            sample = self.samples.setdefault((one.test, one.metric), {}).setdefault(one.label, {})
            if one.block in sample:
                raise ValueError(f"{one.label} {one.test} {one.metric}: block {one.block} is given twice")
            if one.value > 0:
                sample[one.block] = log(one.value)
                if one.at_least:
                    self.bounds.setdefault((one.test, one.metric), {}).setdefault(one.label, set()).add(one.block)

    def cells(self) -> list[tuple[str, str, str]]:
        """Every (test, metric, label) in the order in which they came."""
        return [(test, metric, label) for (test, metric), row in self.samples.items() for label in row]

    def sample(self, test: str, metric: str, label: str) -> Sample:
        """The logarithms by block of one cell."""
        return self.samples[test, metric][label]

    def bounded(self, test: str, metric: str, label: str) -> bool:
        """Whether any value of that cell is a lower bound."""
        return bool(self.bounds.get((test, metric), {}).get(label))
