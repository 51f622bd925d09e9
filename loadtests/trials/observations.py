"""The input of the statistics: the values of metrics in valid trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log


@dataclass(frozen=True)
class Observation:
    """A setup's value of a metric in one trial. ``at_least`` means that the value is a lower bound."""

    label: str
    test: str
    block: int
    metric: str
    value: float
    at_least: bool = False


Sample = dict[int, float]
"""The natural logarithms of a metric's values by block. A percentile that wasn't reached is infinite."""
Bounds = dict[str, set[int]]
"""The blocks in which the value is a lower bound, by label."""


class Observations:
    """The logarithms of values by test, metric, label and block.

    ``bounds`` contains the blocks whose value is only a lower bound.

    Values that aren't positive are left out, because they have no logarithm.

    Raises:
        ValueError: If a label has two values of a metric in the same block.
    """

    def __init__(self, observations: Iterable[Observation]) -> None:
        self.samples: dict[tuple[str, str], dict[str, Sample]] = {}
        self.bounds: dict[tuple[str, str], Bounds] = {}
        for one in observations:
            sample = self.samples.setdefault((one.test, one.metric), {}).setdefault(one.label, {})
            if one.block in sample:
                raise ValueError(f"{one.label} {one.test} {one.metric}: block {one.block} occurs twice")
            if one.value > 0:
                sample[one.block] = log(one.value)
                if one.at_least:
                    self.bounds.setdefault((one.test, one.metric), {}).setdefault(one.label, set()).add(one.block)

    def cells(self) -> list[tuple[str, str, str]]:
        return [(test, metric, label) for (test, metric), row in self.samples.items() for label in row]

    def sample(self, test: str, metric: str, label: str) -> Sample:
        return self.samples[test, metric][label]

    def bounded(self, test: str, metric: str, label: str) -> bool:
        return bool(self.bounds.get((test, metric), {}).get(label))
