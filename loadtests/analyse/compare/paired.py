"""Compute candidates' ratios to a baseline within each block, and the ratios' noise, for one metric of one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadtests.analyse import intervals, trimmed
from loadtests.analyse.intervals import Interval
from loadtests.analyse.moderated import Noise, noises, towards
from loadtests.trials.observations import Bounds, Sample


@dataclass(frozen=True)
class Pair:
    """The log ratios of a candidate to its baseline.

    Args:
        ratios: The log ratio of each block.
        expected: The noise of a ratio if the two setups vary independently, or None if the test has too few setups.
        at_least: Whether the ratio is a lower bound, because a value of the candidate is a lower bound.
        at_most: Whether the ratio is an upper bound, because a value of the baseline is a lower bound.
    """

    ratios: tuple[float, ...]
    expected: Noise | None
    at_least: bool = False
    at_most: bool = False

    @property
    def spread(self) -> Noise | None:
        """The noise of the log ratios over the blocks, or None if it can't be estimated."""
        values = np.array(self.ratios, dtype=float)
        bounded = self.expected is not None and (self.at_least or self.at_most)
        if bounded or len(values) < 2 or not trimmed.finite(values, trimmed.cut_of(len(values))):
            return self.expected
        scale = trimmed.scale(len(values))
        error = trimmed.centre(values, trimmed.cut_of(len(values)))[1]
        observed = Noise(float(error) ** 2 / scale.of_error, scale.freedom)
        return observed if self.expected is None else towards(observed, self.expected)

    def interval(self, error: float) -> Interval:
        """Return the interval of the mean log ratio. The interval is wrong with probability ``error``."""
        if self.expected is None or (noise := self.spread) is None:
            found = intervals.by_itself(self.ratios, error)
        else:
            found = intervals.by_noise(self.ratios, noise, error)
        return intervals.opened(found, below=self.at_most, above=self.at_least)


class Row:
    """The values of all setups in one metric of one test. ``samples`` contains the values by label.

    The labels in ``baselines`` are copies of one setup, so their values in a block are averaged. Values that are lower
    bounds (``bounds``) aren't used to estimate the noise, because they vary with the load generator, not with the
    setup.
    """

    def __init__(self, samples: Mapping[str, Sample], baselines: Sequence[str], bounds: Bounds | None = None) -> None:
        self.samples = samples
        self.bounds = bounds or {}
        self.baselines = [label for label in baselines if label in samples]
        labels = list(samples)
        blocks = sorted({block for sample in samples.values() for block in sample})
        values = np.array([[self._noisy(label, block) for block in blocks] for label in labels], dtype=float)
        same = [labels.index(label) for label in self.baselines]
        self._noises = dict(zip(labels, noises(values, same), strict=True)) if labels else {}

    def _noisy(self, label: str, block: int) -> float:
        """Return a value for estimating the noise, or NaN if the block has only a lower bound or no value."""
        return np.nan if block in self.bounds.get(label, ()) else self.samples[label].get(block, np.nan)

    def against_baseline(self, candidate: str) -> Pair:
        """Return the log ratios of the candidate's values to the baseline's values."""
        own = self.samples.get(candidate, {})
        found: dict[int, float] = {}
        shares: list[float] = []
        for block in sorted(own):
            below = [self.samples[label][block] for label in self.baselines if block in self.samples[label]]
            # If neither setup reached the percentile, the ratio isn't known.
            if below and min(own[block], *below) < np.inf:
                found[block] = own[block] - float(np.mean(below))
                shares.append(1 / len(below))
        if not shares:
            return Pair((), None)
        expected = self._together(candidate, self.baselines[0], float(np.mean(shares)))
        return Pair(
            tuple(found.values()), expected, self._bounded(found, candidate), self._bounded(found, *self.baselines)
        )

    def between(self, one: str, other: str) -> Pair:
        """Return the log ratios of the second label's values to the first label's values."""
        below, above = self.samples.get(one, {}), self.samples.get(other, {})
        both = sorted(block for block in below.keys() & above.keys() if min(below[block], above[block]) < np.inf)
        ratios = tuple(above[block] - below[block] for block in both)
        return Pair(ratios, self._together(other, one, 1.0), self._bounded(both, other), self._bounded(both, one))

    def _bounded(self, blocks: Iterable[int], *labels: str) -> bool:
        return any(block in self.bounds.get(label, ()) for block in blocks for label in labels)

    def _together(self, label: str, other: str, share: float) -> Noise | None:
        """Return the noise of the difference between two setups, with the second setup's variance times ``share``."""
        own, further = self._noises.get(label), self._noises.get(other)
        if own is None or further is None:
            return None
        parts = ((own.variance, own.freedom), (share * further.variance, further.freedom))
        total = sum(variance for variance, _ in parts)
        return Noise(total, total**2 / sum(variance**2 / freedom for variance, freedom in parts))
