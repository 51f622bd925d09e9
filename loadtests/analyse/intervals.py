"""Confidence intervals for means over blocks, simultaneous over all comparisons of a study.

The figures are logarithms, so what is reported is a geometric mean: of ratios, the mean by which one is so many times
the other. From ``trimmed.ENOUGH`` blocks on it is the trimmed mean. The interval lies about it:

- Where the noise of both setups is known from the whole test (``moderated``), as far to either side as Student's t with
  the degrees of freedom by which the two variances together are known (Satterthwaite, *An approximate distribution of
  estimates of variance components*, Biometrics Bulletin 2, 1946).
- Else, from the sample alone: with few blocks Student's t interval; with ``trimmed.ENOUGH`` as far as the trimmed mean
  of normal noise strays in units of its own standard error, a studentised bootstrap whose samples are drawn from the
  normal distribution and not from the blocks. Ten blocks are too few to draw from: that makes the same interval wider.
  The percentile bootstrap cannot leave the range of the data at all, so with five blocks its promise ends at 94% for
  one comparison.

What the noise really is matters little: the middle of so many blocks is about normal, heavy tails make the interval too
wide rather than too narrow, and the ratio of two setups that are equal is symmetric whatever their noise, because
either might have come first.

Several comparisons: each interval is made at the level of Bonferroni, so that all hold together with 95%, whatever
ties them to each other. So any verdict may be read from any interval, and the chance of one false verdict or more in
the study stays at 5%. Holm's step-down procedure would gain nothing over it: it profits from claims that are settled,
and here each comparison, whatever its truth, keeps one that would be false: a difference, a difference the other way,
or equivalence. A level from the comparisons' own correlation would narrow 16 intervals by a tenth, but ten blocks do
not know that correlation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, nan, sqrt

import numpy as np
from scipy.special import stdtrit

from loadtests.analyse import trimmed
from loadtests.analyse.moderated import Noise
from loadtests.analyse.trimmed import Array

CONFIDENCE = 0.95
# Of intervals that were looked at while blocks were added until they were narrow. They are narrow by chance as well:
# they hold with 95% where each look is made at this level, and the first at this many blocks (``tools.simulation``).
CONFIDENCE_OF_LOOKS = 0.98
FIRST_LOOK = 8


@dataclass(frozen=True)
class Interval:
    """A mean and what holds it; ``method`` is moderated, trimmed, student, constant (equal but for rounding) or none.

    Where there is no interval because too many values are infinite, the estimate is their median.
    """

    estimate: float
    low: float
    high: float
    method: str


def simultaneous(samples: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> list[Interval]:
    """An interval for the mean of each sample, a value for each block; together they hold with ``confidence``."""
    error_each = (1 - confidence) / max(1, len(samples))
    return [by_itself(sample, error_each) for sample in samples]


def alone(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The interval for the mean of one sample, not corrected for any other."""
    return by_itself(values, 1 - confidence)


def by_itself(values: Sequence[float], error: float) -> Interval:
    """The interval that a sample alone gives, which leaves the truth out with the probability ``error``."""
    sample = np.array(values, dtype=float)
    if len(sample) < 2 or not trimmed.finite(sample, trimmed.cut_of(len(sample))):
        return Interval(middle(sample), -inf, inf, "none")
    if trimmed.constant(sample):
        return equal(float(np.mean(sample)), len(sample), error)
    outside = trimmed.cut(sample)
    centre, standard_error = trimmed.centre(sample, outside)
    quantile = _of_trimmed(len(sample), outside, error) if outside else stdtrit(len(sample) - 1, 1 - error / 2)
    return around(float(centre), float(quantile * standard_error), "trimmed" if outside else "student")


def by_noise(values: Sequence[float], noise: Noise, error: float) -> Interval:
    """The interval where the noise of each value is known from elsewhere."""
    sample = np.array(values, dtype=float)
    outside = trimmed.cut_of(len(sample))
    if len(sample) < 2 or not trimmed.finite(sample, outside):
        return Interval(middle(sample), -inf, inf, "none")
    standard_error = sqrt(noise.variance * trimmed.scale(len(sample)).of_centre)
    quantile = float(stdtrit(noise.freedom, 1 - error / 2))
    return around(float(trimmed.centre(sample, outside)[0]), quantile * standard_error, "moderated")


def opened(interval: Interval, below: bool, above: bool) -> Interval:
    """An interval of which an end is not known: of what is a bound itself it bounds the truth on one side alone."""
    low, high = -inf if below else interval.low, inf if above else interval.high
    return replace(interval, low=low, high=high)


def around(centre: float, reach: float, method: str) -> Interval:
    """``reach`` to either side of the centre."""
    return Interval(centre, centre - reach, centre + reach, method)


def equal(value: float, count: int, error: float) -> Interval:
    """The interval of so many equal blocks: figures that come in steps (a capacity) are often equal by chance.

    All lie on one side of the truth with the probability 2 ** (1 - count), whatever they are distributed as.
    """
    if 2.0 ** (1 - count) > error:
        return Interval(value, -inf, inf, "none")
    return Interval(value, value, value, "constant")


def middle(values: Array) -> float:
    """The median, among infinite values as well; not a number where it lies between both infinities, or of none."""
    if not len(values):
        return nan
    with np.errstate(invalid="ignore"):
        return float(np.median(values))


@lru_cache(maxsize=256)
def _of_trimmed(count: int, outside: int, error: float) -> float:
    centres, errors = trimmed.of_noise(count, outside)
    return float(np.quantile(np.abs(centres) / errors, 1 - error))
