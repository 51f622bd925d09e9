"""Confidence intervals for medians over blocks, simultaneous over all comparisons of a study.

From ``ENOUGH`` blocks on, the interval lies about the trimmed mean (``trimmed``), as far to either side as the trimmed
mean of normal noise strays in units of its own standard error: a studentised bootstrap whose samples are drawn from
the normal distribution and not from the blocks. Ten blocks are too few to draw from: that makes the same interval
wider, and that of the median, which knows less. The percentile bootstrap cannot leave the range of the
data at all, so with five blocks its promise ends at 94% for one comparison. What the noise really is matters little:
the middle of so many blocks is about normal, heavy tails make the interval too wide rather than too narrow, and the
ratio of two setups that are equal is symmetric whatever their noise, because either might have come first.

With fewer blocks nothing can be left out, and it is Student's t interval of the mean.

The figure that is reported is the median of the blocks. Where mean and median are so far apart that the interval would
not hold it, it is drawn out to it.

Several comparisons: each interval is made at the level of Bonferroni, so that all hold together with 95%, whatever
ties them to each other. So any verdict may be read from any interval, and the chance of one false verdict or more in
the study stays at 5%. Holm's step-down procedure would gain nothing over it: it profits from claims that are settled,
and here each comparison, whatever its truth, keeps one that would be false: a difference, a difference the other way,
or equivalence. A level from the comparisons' own correlation would narrow 16 intervals by a tenth, but ten blocks do
not know that correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, nan

import numpy as np
from scipy import stats

from loadtests.analyse import trimmed
from loadtests.analyse.trimmed import Array

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A median and what holds it; ``method`` is trimmed, student, constant (equal but for rounding) or none."""

    estimate: float
    low: float
    high: float
    method: str


def simultaneous(samples: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> list[Interval]:
    """An interval for the median of each sample, a value for each block; together they hold with ``confidence``."""
    error_each = (1 - confidence) / max(1, len(samples))
    return [_interval(np.array(sample, dtype=float), error_each) for sample in samples]


def alone(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The interval for the median of one sample, not corrected for any other."""
    return simultaneous([values], confidence)[0]


def around(median: float, centre: float, reach: float, method: str) -> Interval:
    """``reach`` to either side of the centre, and drawn out to the median where that is further."""
    return Interval(median, min(median, centre - reach), max(median, centre + reach), method)


def middle(values: Array) -> float:
    """The median, among infinite values as well; not a number where it lies between both infinities."""
    with np.errstate(invalid="ignore"):
        return float(np.median(values))


def settled(count: int, error: float) -> bool:
    """Whether so many equal blocks are no chance: figures that come in steps (a capacity) are often equal.

    All lie on one side of the median with the probability 2 ** (1 - count), whatever they are distributed as.
    """
    return 2.0 ** (1 - count) <= error


def _interval(values: Array, error: float) -> Interval:
    if len(values) == 0:
        return Interval(nan, -inf, inf, "none")
    median = middle(values)
    if len(values) == 1 or not trimmed.finite(values, trimmed.cut_of(len(values))):
        return Interval(median, -inf, inf, "none")
    if trimmed.constant(values):
        if not settled(len(values), error):
            return Interval(median, -inf, inf, "none")
        return Interval(median, median, median, "constant")
    outside = trimmed.cut(values)
    centre, standard_error = trimmed.centre(values, outside)
    quantile = _of_trimmed(len(values), outside, error) if outside else stats.t.ppf(1 - error / 2, len(values) - 1)
    return around(median, float(centre), float(quantile * standard_error), "trimmed" if outside else "student")


@lru_cache(maxsize=256)
def _of_trimmed(count: int, outside: int, error: float) -> float:
    centres, errors = trimmed.of_noise(count, outside)
    return float(np.quantile(np.abs(centres) / errors, 1 - error))
