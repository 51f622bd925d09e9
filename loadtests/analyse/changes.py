"""A study's results over time: which of them are changes and which are noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, isfinite, log, pi, sqrt

import numpy as np

from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA

# From this many steps between neighbours on, a series shows what varies between runs even where one of the steps is a
# real change. With fewer the change would hide itself, and the runs' own intervals know nothing of what differs from
# one day to the next: marks on their word alone would be false all too often.
STEPS_FOR_NOISE = 5
RUNS_FOR_MARKS = STEPS_FOR_NOISE + 1
# Series of noise that the limits are taken from.
SERIES = 50_000
SEED = 20161108


@dataclass(frozen=True)
class Point:
    """A run's mean of one metric of one setup, with its 95% interval; ``trouble`` is what failed in it, in words."""

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


def changes(points: Sequence[Point], delta: float = DELTA, family: int = 1) -> list[Mark]:
    """The points in order of time, each marked if it left the level of the runs since the last change.

    A change is a difference to that level (the median of its runs) of at least ``delta``, and further than noise goes
    anywhere in 95% of histories of ``family`` series. A run's noise is that of its own interval or, where that is
    more, what varies between runs that did not change: the steps between neighbours without the largest fifth, which
    may be changes. Points without a finite interval, or of runs in which requests failed, are never changes, and fewer
    than ``RUNS_FOR_MARKS`` other points show none.
    """
    known = [point for point in points if _known(point)]
    if len(known) < RUNS_FOR_MARKS:
        return [Mark(point, None) for point in points]
    between = float(_between_runs(np.array([log(point.value) for point in known])))
    limit = float(np.quantile(_strays(len(known)), 1 - 0.05 / family))
    marks: list[Mark] = []
    level: list[Point] = []
    for point in points:
        change = _change(point, level, between, limit, delta) if level and _known(point) else None
        marks.append(Mark(point, change))
        if _known(point):
            level = [*level, point] if change is None else [point]
    return marks


def _change(point: Point, level: Sequence[Point], between: float, limit: float, delta: float) -> float | None:
    step = log(point.value) - float(np.median([log(before.value) for before in level]))
    variances = [max(_own(run), between) for run in (point, *level)]
    error = sqrt(variances[0] + _of_level(sum(variances[1:]) / len(level), len(level)))
    return exp(step) if abs(step) > max(limit * error, log(1 + delta)) else None


def _known(point: Point) -> bool:
    return point.low > 0 and isfinite(point.high) and not point.trouble


def _own(point: Point) -> float:
    """The variance of a run's logarithm as its 95% interval has it."""
    return ((log(point.high) - log(point.low)) / (2 * 1.96)) ** 2


def _of_level(variance: float, runs: int) -> float:
    # The level is a median, hence pi / 2.
    return pi / 2 * variance / runs


def _between_runs(logarithms: Array) -> Array:
    """The variance between runs along the last axis; what is left out makes it small, which the limits make up for."""
    steps = np.sort(np.abs(np.diff(logarithms)), axis=-1)
    kept = steps[..., : steps.shape[-1] - steps.shape[-1] // STEPS_FOR_NOISE]
    # A step is the difference of two runs: twice the variance of one.
    variance: Array = (kept**2).mean(axis=-1) / 2
    return variance


@lru_cache(maxsize=64)
def _strays(runs: int) -> Array:
    """How far the furthest run of each of many series of nothing but noise is from the level before it, in the
    standard errors that ``_change`` would give it."""
    series = np.random.default_rng(SEED).normal(size=(SERIES, runs))
    between = _between_runs(series)
    distances = [
        np.abs(series[:, run] - np.median(series[:, :run], axis=1)) / sqrt(1 + _of_level(1.0, run))
        for run in range(1, runs)
    ]
    strays: Array = np.max(distances, axis=0) / np.sqrt(between)
    return strays
