"""Confidence intervals for medians over blocks, simultaneous over all comparisons of a study.

The block is the resampling unit: everything within a block shares the machine's state, so blocks are drawn whole
and the same draw serves every comparison. From ``ENOUGH`` blocks on, the interval is a bootstrap-t: in each
resample, the distance of its median from the sample's median, in units of the resample's own standard deviation.
The quantile is that of the absolute distance, which makes the interval symmetric and its error of a higher order
(Hall, *The Bootstrap and Edgeworth Expansion*, 1992, section 3.6).

The percentile bootstrap, which leaves that division out, cannot leave the range of the data: with five blocks all
lie on one side of the true median once in 16 times, so its promise ends at 94% for one comparison, and nothing is
left to correct several with. (For the mean, its 95% held in 83% of 2,000 simulated samples of five.)

With fewer blocks too many resamples repeat one block, and no bootstrap can keep its promise. There it is Student's
t interval of the mean, exact for normal values and too wide rather than too narrow for heavy tails, at the level
of Bonferroni.

Several comparisons: the intervals hold together, with 95% for all at once. Each gets the same quantile of its own
bootstrap distribution, raised until the share of resamples in which all are inside is 95% (Beran, *Balanced
simultaneous confidence sets*, JASA 83, 1988; Romano and Wolf, *Econometrica* 73, 2005). So any verdict may be read
from any interval, and the chance of one false verdict or more in the study stays at 5%. Holm's step-down procedure
would gain nothing: it profits from claims that are settled, and here each comparison, whatever its truth, keeps one
that would be false: a difference, a difference the other way, or equivalence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

CONFIDENCE = 0.95
ENOUGH = 6
RESAMPLES = 9999
SEED = 20161108
# Logarithms that differ by less are one ratio, counted in another order: floats hold 16 digits.
SAME = 1e-12


@dataclass(frozen=True)
class Interval:
    """A median and what holds it; ``method`` is bootstrap, student, constant (equal but for rounding) or none."""

    estimate: float
    low: float
    high: float
    method: str


def simultaneous(
    samples: Sequence[Mapping[int, float]],
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Interval]:
    """An interval for the median of each sample, block -> value; together they hold with ``confidence``.

    Samples of the same blocks are resampled together. One that misses a block is resampled by itself, which can
    only widen the intervals.
    """
    values = [_values(sample) for sample in samples]
    rng = np.random.default_rng(seed)
    draws: dict[tuple[int, ...], NDArray[np.intp]] = {}
    roots = {}
    for j, sample in enumerate(samples):
        if len(sample) < ENOUGH or _constant(values[j]):
            continue
        blocks = tuple(sorted(sample))
        if blocks not in draws:
            draws[blocks] = rng.integers(0, len(blocks), (resamples, len(blocks)))
        roots[j] = _roots(values[j], draws[blocks])
    quantiles = balanced_quantiles(roots, (1 - confidence) * len(roots) / max(1, len(samples)))
    error_each = (1 - confidence) / max(1, len(samples))
    return [
        _around(value, quantiles[j]) if j in quantiles else _by_student(value, error_each)
        for j, value in enumerate(values)
    ]


def alone(values: Sequence[float], confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Interval:
    """The interval for the median of one sample, not corrected for any other."""
    return simultaneous([dict(enumerate(values))], confidence, resamples)[0]


def balanced_quantiles(roots: Mapping[int, Array], error: float) -> dict[int, float]:
    """For each sample the quantile of its roots, at the one level at which all are inside in ``1 - error`` of the
    resamples. ``roots`` holds an array of the same resamples for each sample."""
    if not roots:
        return {}
    ordered = {j: np.sort(column) for j, column in roots.items()}
    ranks = np.max([np.searchsorted(ordered[j], column) for j, column in roots.items()], axis=0)
    resamples = len(ranks)
    level = np.sort(ranks)[min(resamples, ceil((1 - error) * (resamples + 1))) - 1]
    return {j: float(column[level]) for j, column in ordered.items()}


def studentised(distance: Array, scale: Array) -> Array:
    """|distance| / scale; a resample without spread says nothing (infinite), unless it has no distance either."""
    distance = np.abs(distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        roots: Array = np.where(distance == 0, 0.0, distance / scale)
    return roots


def _values(sample: Mapping[int, float]) -> Array:
    return np.array([sample[block] for block in sorted(sample)], dtype=float)


def _roots(values: Array, draw: NDArray[np.intp]) -> Array:
    resampled = values[draw]
    return studentised(np.median(resampled, axis=1) - np.median(values), resampled.std(axis=1, ddof=1))


def _around(values: Array, quantile: float) -> Interval:
    median = float(np.median(values))
    half_width = quantile * float(values.std(ddof=1))
    return Interval(median, median - half_width, median + half_width, "bootstrap")


def _by_student(values: Array, error: float) -> Interval:
    if len(values) == 0:
        return Interval(nan, -inf, inf, "none")
    median = float(np.median(values))
    if len(values) == 1:
        return Interval(median, -inf, inf, "none")
    if _constant(values):
        return Interval(median, median, median, "constant")
    mean = float(values.mean())
    quantile = float(stats.t.ppf(1 - error / 2, len(values) - 1))
    half_width = quantile * float(values.std(ddof=1)) / sqrt(len(values))
    return Interval(median, mean - half_width, mean + half_width, "student")


def _constant(values: Array) -> bool:
    return len(values) > 1 and bool(np.ptp(values) <= SAME * max(1.0, float(np.max(np.abs(values)))))
