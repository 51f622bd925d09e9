"""A study's results over time: which of them are changes and which are noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, isfinite, log, pi, sqrt
from statistics import median

from scipy import stats

from loadtests.analyse.verdicts import DELTA

# From this many steps on, the series itself shows what varies between runs. With fewer, one real change would hide
# itself in the estimate; there only the runs' own intervals are known, and a mark may be the machine's doing.
STEPS_FOR_NOISE = 5
# A normal variable's median absolute value, in standard deviations.
MEDIAN_ABSOLUTE = 0.6745
# A variance from a median of n steps is worth about n / 2 degrees of freedom, not fewer than 4. In 400 simulated
# series each of 6, 8, 12, 20 and 40 runs without a change, this left a mark in at most 4% of them.
STEPS_A_FREEDOM = 2
LEAST_FREEDOM = 4


@dataclass(frozen=True)
class Point:
    """A run's median of one metric of one setup, with its 95% interval."""

    run: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Mark:
    """A point and, where it is a change, its ratio to the level before it."""

    point: Point
    change: float | None


def changes(points: Sequence[Point], delta: float = DELTA) -> list[Mark]:
    """The points in order of time, each marked if it left the level of the runs since the last change.

    A change is a difference to that level (the median of its runs) of at least ``delta`` and more than 95% limits
    for the whole series allow (Bonferroni over its steps). The limits hold the runs' own intervals and, where the
    series is long enough to show it, what varies between runs that did not change: the median step between
    neighbours, which a few real changes do not move. Points without a finite interval are never changes.
    """
    between = _between_runs([point for point in points if _known(point)])
    marks: list[Mark] = []
    level: list[Point] = []
    for point in points:
        change = _change(point, level, between, 0.05 / (len(points) - 1), delta) if level and _known(point) else None
        marks.append(Mark(point, change))
        if _known(point):
            level = [*level, point] if change is None else [point]
    return marks


@dataclass(frozen=True)
class _Between:
    """The variance of a run's logarithm as the steps of the series show it, and how well they do."""

    variance: float = 0.0
    freedom: float = inf


def _change(point: Point, level: Sequence[Point], between: _Between, error: float, delta: float) -> float | None:
    step = log(point.value) - median(log(before.value) for before in level)
    # The level is a median of runs, hence pi / 2.
    of_level = pi / 2 * sum(_variance(before, between) for before in level) / len(level) ** 2
    limit = float(stats.t.ppf(1 - error / 2, between.freedom)) * sqrt(_variance(point, between) + of_level)
    return exp(step) if abs(step) > max(limit, log(1 + delta)) else None


def _known(point: Point) -> bool:
    return point.low > 0 and isfinite(point.high)


def _variance(point: Point, between: _Between) -> float:
    """Of the logarithm: from the 95% interval's half width, or what varies between runs if that is more."""
    return max(((log(point.high) - log(point.low)) / (2 * 1.96)) ** 2, between.variance)


def _between_runs(points: Sequence[Point]) -> _Between:
    steps = [abs(log(after.value) - log(before.value)) for before, after in pairwise(points)]
    if len(steps) < STEPS_FOR_NOISE:
        return _Between()
    # A step is the difference of two runs: twice the variance of one.
    return _Between((median(steps) / MEDIAN_ABSOLUTE) ** 2 / 2, max(LEAST_FREEDOM, len(steps) / STEPS_A_FREEDOM))
