"""Which results of a study over time are changes, and which are noise.

Runs are correlated, and now and then one is far off for no reason. So the variation between runs is measured by the
median of steps over one to three runs, which a slow drift makes longer, and one run alone is never a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, isfinite, log, pi, sqrt

import numpy as np

from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA

RUNS_FOR_MARKS = 7  # from here on steps over two runs count
RUNS_FOR_LEVEL = 3
LAGS = (1, 2, 3)
# In standard errors: at most 5% of simulated charts of twenty series of twenty runs have a false mark, though
# consecutive runs correlate by a half (``tools.simulation.histories``).
LIMIT = 3.4
MEDIAN_OF_NORMAL = 0.6745  # of |x|


@dataclass(frozen=True)
class Point:
    """A run's mean of a metric, or its ratio to the baseline, with its 95% interval; ``trouble`` is what failed."""

    run: str
    value: float
    low: float
    high: float
    trouble: str = ""


@dataclass(frozen=True)
class Mark:
    """A point and, where it is a change, its ratio to the level before it."""

    point: Point
    change: float | None


def changes(points: Sequence[Point], delta: float = DELTA) -> list[Mark]:
    """The points in order of time, marked where the series leaves its level.

    The level is the median of three or more runs since the last change. A change is where a run and the next are both
    above it, or both below, by at least ``delta`` and more than ``LIMIT`` standard errors; its size is their mean. So
    the newest run is never marked. A run's noise is that of its interval or, where larger, that between runs. Points
    without a finite interval, or with failures, are never changes; fewer than ``RUNS_FOR_MARKS`` others show none.
    """
    known = [point for point in points if _known(point)]
    if len(known) < RUNS_FOR_MARKS:
        return [Mark(point, None) for point in points]
    between = between_runs(np.array([log(point.value) for point in known])) ** 2
    found: dict[str, float] = {}
    level: list[Point] = []
    for pair in pairwise(known):
        change = _change(pair, level, between, delta) if len(level) >= RUNS_FOR_LEVEL else None
        if change is not None:
            found[pair[0].run] = change
            level = []
        level.append(pair[0])
    return [Mark(point, found.get(point.run)) for point in points]


def between_runs(logarithms: Array) -> float:
    """The standard deviation of one run: the largest median step over one to three runs.

    A change is in as many steps as the lag is long; lags of which that could be half are not used.
    """
    steps = [np.abs(logarithms[lag:] - logarithms[:-lag]) for lag in LAGS if len(logarithms) - lag >= 2 * lag + 1]
    # A step is the difference of two runs.
    return max(float(np.median(one)) for one in steps) / (MEDIAN_OF_NORMAL * sqrt(2))


def _change(pair: Sequence[Point], level: Sequence[Point], between: float, delta: float) -> float | None:
    before = float(np.median([log(run.value) for run in level]))
    # The level is a median, hence pi / 2.
    of_level = pi / 2 * sum(max(_variance(run), between) for run in level) / len(level) ** 2
    steps = [log(run.value) - before for run in pair]
    limits = [max(LIMIT * sqrt(max(_variance(run), between) + of_level), log(1 + delta)) for run in pair]
    beyond = all(abs(step) > limit for step, limit in zip(steps, limits, strict=True))
    return exp(sum(steps) / len(steps)) if beyond and steps[0] * steps[1] > 0 else None


def _known(point: Point) -> bool:
    return point.low > 0 and isfinite(point.high) and not point.trouble


def _variance(point: Point) -> float:
    """The variance of a run's logarithm as its 95% interval has it."""
    return ((log(point.high) - log(point.low)) / (2 * 1.96)) ** 2
