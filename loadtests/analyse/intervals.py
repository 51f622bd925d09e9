"""Compute confidence intervals for means over blocks, simultaneously for all comparisons of a study.

The figures are logarithms, so means are geometric. Means of at least ``trimmed.ENOUGH`` blocks are trimmed. There are
two kinds of intervals:

- If the noise of both setups is estimated from all setups of the test (``moderated``), the interval uses Student's t
  with the degrees of freedom of the summed variances (Satterthwaite, *An approximate distribution of estimates of
  variance components*, Biometrics Bulletin 2, 1946).
- If the noise is estimated only from the sample, the interval uses Student's t, or for a trimmed mean, a studentised
  bootstrap from the normal distribution. Ten blocks are too few for resampling, and the limits of a percentile
  bootstrap can't be outside the range of the data.

The distribution of the noise matters little: heavy tails make the intervals wider rather than too narrow, and the log
ratio of equal setups is symmetric for any distribution of their noise.

Each interval has Bonferroni's level, so that all intervals hold simultaneously with 95% confidence, however they
correlate. Holm's procedure would gain nothing, because each comparison can always lead to a false claim, either of a
difference in one direction or of equivalence.
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
# A run can check its intervals repeatedly until they are narrow. The intervals still hold with 95% confidence if each
# check uses this level, and if the first check comes after this number of blocks (``tools.simulation``).
CONFIDENCE_OF_LOOKS = 0.98
FIRST_LOOK = 8


@dataclass(frozen=True)
class Interval:
    """A mean and its interval.

    ``method`` is moderated, trimmed, student, constant (all values are equal except for rounding) or none. If too many
    values are infinite, the estimate is the median.
    """

    estimate: float
    low: float
    high: float
    method: str


def alone(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the unadjusted interval for the mean of one sample."""
    return by_itself(values, 1 - confidence)


def by_itself(values: Sequence[float], error: float) -> Interval:
    """Return an interval based on only one sample. The interval is wrong with probability ``error``."""
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
    """Return an interval for a sample whose noise is also known from other setups."""
    sample = np.array(values, dtype=float)
    outside = trimmed.cut_of(len(sample))
    if len(sample) < 2 or not trimmed.finite(sample, outside):
        return Interval(middle(sample), -inf, inf, "none")
    standard_error = sqrt(noise.variance * trimmed.scale(len(sample)).of_centre)
    quantile = float(stdtrit(noise.freedom, 1 - error / 2))
    return around(float(trimmed.centre(sample, outside)[0]), quantile * standard_error, "moderated")


def opened(interval: Interval, below: bool, above: bool) -> Interval:
    """Return the interval with an open lower end if ``below`` is true, and an open upper end if ``above`` is true."""
    low, high = -inf if below else interval.low, inf if above else interval.high
    return replace(interval, low=low, high=high)


def around(centre: float, reach: float, method: str) -> Interval:
    """Return the interval that extends by ``reach`` to both sides of the centre."""
    return Interval(centre, centre - reach, centre + reach, method)


def equal(value: float, count: int, error: float) -> Interval:
    """Return the interval for ``count`` equal values.

    Figures that change in steps, such as a capacity, are often equal by chance. For any distribution, all values are on
    one side of the true value with probability 2 ** (1 - count).
    """
    if 2.0 ** (1 - count) > error:
        return Interval(value, -inf, inf, "none")
    return Interval(value, value, value, "constant")


def middle(values: Array) -> float:
    """Return the median. It is NaN if there are no values, or if the two middle values are minus and plus infinity."""
    if not len(values):
        return nan
    with np.errstate(invalid="ignore"):
        return float(np.median(values))


@lru_cache(maxsize=256)
def _of_trimmed(count: int, outside: int, error: float) -> float:
    centres, errors = trimmed.of_noise(count, outside)
    return float(np.quantile(np.abs(centres) / errors, 1 - error))
