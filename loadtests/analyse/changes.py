"""A study's results over time: which of them are changes and which are noise.

Runs are not as independent as a test of significance would have them: what the machine did yesterday it does today as
well, and now and then a run is far off for no reason. So what varies between runs is measured by steps over one to
three runs, which a slow wander makes longer, and by their median, which neither a far run nor a change moves; and one
run alone is never a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, isfinite, log, pi, sqrt

import numpy as np

from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA

# Seven is where steps over two runs begin to count.
RUNS_FOR_MARKS = 7
RUNS_FOR_LEVEL = 3
LAGS = (1, 2, 3)
# In standard errors: in simulated charts of twenty series of twenty runs at most 5% then hold a false mark
# (``tools.simulation.histories``), though each run is half of the one before.
LIMIT = 3.4
# The median of |x| for x from the standard normal distribution.
MEDIAN_OF_NORMAL = 0.6745


@dataclass(frozen=True)
class Point:
    """A run's mean of one metric of one setup, or its ratio to the baseline, with its 95% interval; ``trouble`` is what
    failed in it, in words."""

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
    """The points in order of time, each marked if the series left the level of the runs since the last change there.

    The level is the median of three runs or more. A change is where a run and the next one are both above it, or both
    below, by at least ``delta`` and by more than ``LIMIT`` standard errors; how large it is is the mean of the two. So
    the newest run is never marked. A run's noise is that of its own interval or, where that is more, what varies
    between runs. Points without a finite interval, or of runs in which requests failed, are never changes, and fewer
    than ``RUNS_FOR_MARKS`` other points show none.
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

    A change is part of as many steps as the lag is long. Where these could be half of all, the lag is not used.
    """
    steps = [np.abs(logarithms[lag:] - logarithms[:-lag]) for lag in LAGS if len(logarithms) - lag >= 2 * lag + 1]
    # A step is the difference of two runs.
    return max(float(np.median(one)) for one in steps) / (MEDIAN_OF_NORMAL * sqrt(2))


def _change(pair: Sequence[Point], level: Sequence[Point], between: float, delta: float) -> float | None:
    before = float(np.median([log(run.value) for run in level]))
    # The level is a median, hence pi / 2.
    of_level = pi / 2 * sum(max(_own(run), between) for run in level) / len(level) ** 2
    steps = [log(run.value) - before for run in pair]
    limits = [max(LIMIT * sqrt(max(_own(run), between) + of_level), log(1 + delta)) for run in pair]
    beyond = all(abs(step) > limit for step, limit in zip(steps, limits, strict=True))
    return exp(sum(steps) / len(steps)) if beyond and steps[0] * steps[1] > 0 else None


def _known(point: Point) -> bool:
    return point.low > 0 and isfinite(point.high) and not point.trouble


def _own(point: Point) -> float:
    """The variance of a run's logarithm as its 95% interval has it."""
    return ((log(point.high) - log(point.low)) / (2 * 1.96)) ** 2
