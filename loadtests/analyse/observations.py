"""The input of the statistics: one figure of one valid trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log


@dataclass(frozen=True)
class Observation:
    """The value of a metric in a trial of a setup in a block. ``at_least`` means that it is a lower bound."""

    label: str
    test: str
    block: int
    metric: str
    value: float
    at_least: bool = False


Sample = dict[int, float]
"""The natural logarithm of the value by block. It is infinite for a percentile that wasn't reached."""
Bounds = dict[str, set[int]]
"""The blocks in which a label's value is a lower bound."""


class Observations:
    """Logarithms of values by test, metric, label and block. ``bounds`` are the blocks with lower bounds.

    Values that aren't positive have no ratio and are left out.

    Raises:
        ValueError: If a block has two values.
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
