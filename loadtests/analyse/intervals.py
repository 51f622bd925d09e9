"""Confidence intervals for means over blocks, simultaneous over all comparisons of a study.

The figures are logarithms, so means are geometric. They are trimmed if there are at least ``trimmed.ENOUGH`` blocks.
There are two kinds of intervals:

- If the noise of both setups is known from the whole test (``moderated``): Student's t with the degrees of freedom of
  the summed variances (Satterthwaite, *An approximate distribution of estimates of variance components*, Biometrics
  Bulletin 2, 1946).
- Otherwise, from the sample only: Student's t, or for a trimmed mean a studentised bootstrap from the normal
  distribution. Ten blocks are too few to draw samples from, and a percentile bootstrap cannot leave the range of the
  data.

The distribution of the noise matters little: heavy tails make the intervals wider rather than too narrow, and the log
ratio of equal setups is symmetric for any distribution of their noise.

Each interval has Bonferroni's level, so that all of them hold together with 95%, however they correlate. Holm's
procedure would gain nothing, because each comparison keeps a claim that would be false: a difference either way, or
equivalence.
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
# If intervals are checked repeatedly until they are narrow, they hold with 95% if each check uses this level, starting
# at this number of blocks (``tools.simulation``).
CONFIDENCE_OF_LOOKS = 0.98
FIRST_LOOK = 8


@dataclass(frozen=True)
class Interval:
    """A mean and its interval. ``method`` is moderated, trimmed, student, constant (equal except for rounding) or none.

    With too many infinite values, the estimate is their median.
    """

    estimate: float
    low: float
    high: float
    method: str


def simultaneous(samples: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> list[Interval]:
    """Return an interval for the mean of each sample. Together they hold with ``confidence``."""
    error_each = (1 - confidence) / max(1, len(samples))
    return [by_itself(sample, error_each) for sample in samples]


def alone(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the unadjusted interval for the mean of one sample."""
    return by_itself(values, 1 - confidence)


def by_itself(values: Sequence[float], error: float) -> Interval:
    """Return the interval from a single sample, wrong with probability ``error``."""
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
    """Return the interval if the noise is known from other setups."""
    sample = np.array(values, dtype=float)
    outside = trimmed.cut_of(len(sample))
    if len(sample) < 2 or not trimmed.finite(sample, outside):
        return Interval(middle(sample), -inf, inf, "none")
    standard_error = sqrt(noise.variance * trimmed.scale(len(sample)).of_centre)
    quantile = float(stdtrit(noise.freedom, 1 - error / 2))
    return around(float(trimmed.centre(sample, outside)[0]), quantile * standard_error, "moderated")


def opened(interval: Interval, below: bool, above: bool) -> Interval:
    """Return the interval. It is open at an end if the figure is only a bound there."""
    low, high = -inf if below else interval.low, inf if above else interval.high
    return replace(interval, low=low, high=high)


def around(centre: float, reach: float, method: str) -> Interval:
    """Return the interval that extends by ``reach`` to both sides of the centre."""
    return Interval(centre, centre - reach, centre + reach, method)


def equal(value: float, count: int, error: float) -> Interval:
    """Return the interval of ``count`` equal values. Figures in steps, such as a capacity, are often equal by chance.

    With probability 2 ** (1 - count), all values are on one side of the truth, for any distribution.
    """
    if 2.0 ** (1 - count) > error:
        return Interval(value, -inf, inf, "none")
    return Interval(value, value, value, "constant")


def middle(values: Array) -> float:
    """Return the median, also of infinite values. It is NaN between both infinities, or without values."""
    if not len(values):
        return nan
    with np.errstate(invalid="ignore"):
        return float(np.median(values))


@lru_cache(maxsize=256)
def _of_trimmed(count: int, outside: int, error: float) -> float:
    centres, errors = trimmed.of_noise(count, outside)
    return float(np.quantile(np.abs(centres) / errors, 1 - error))
