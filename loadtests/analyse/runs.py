"""Two runs against each other: blocks of different runs are no pairs, so the samples stand side by side.

What changed for the whole machine between the runs (its temperature, its neighbours, a kernel) is in the ratio and
not in the interval: only a setup that ran in both and did not change can show it. The caller says whether machines
and packages differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from loadtests.analyse.compare import Comparison, Pairing, settle
from loadtests.analyse.intervals import (
    CONFIDENCE,
    ENOUGH,
    RESAMPLES,
    SEED,
    Array,
    Interval,
    balanced_quantiles,
    studentised,
)
from loadtests.analyse.observations import Observation, Table
from loadtests.analyse.verdicts import DELTA

Pair = tuple[Array, Array]


def compare_runs(
    before: Iterable[Observation],
    after: Iterable[Observation],
    delta: float = DELTA,
    resamples: int = RESAMPLES,
) -> list[Comparison]:
    """Every label, test and metric that both runs have; ``ratio`` is the median after over the median before.

    Baseline and candidate are the same label. Trials that hold the same figures on both sides are one run compared
    with itself: there is nothing uncertain about that ratio.
    """
    first, second = Table(before), Table(after)
    both = set(second.cells())
    cells = [cell for cell in first.cells() if cell in both]
    pairs = [(_values(first.sample(*cell)), _values(second.sample(*cell))) for cell in cells]
    found = simultaneous(pairs, resamples=resamples)
    return [
        settle(Pairing(label, label, test, metric, min(map(len, pair)), _spread(pair)), interval, delta, len(cells))
        for (test, metric, label), pair, interval in zip(cells, pairs, found, strict=True)
    ]


def simultaneous(
    pairs: Sequence[Pair], confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval]:
    """An interval for the second median minus the first of each pair; together they hold with ``confidence``.

    As ``intervals.simultaneous``, with Welch's standard error: the two runs may be differently noisy. Too few
    blocks on either side: Welch's t interval at the level of Bonferroni.
    """
    rng = np.random.default_rng(seed)
    draws: dict[tuple[int, int], tuple[NDArray[np.intp], NDArray[np.intp]]] = {}
    roots = {}
    for j, (before, after) in enumerate(pairs):
        sizes = (len(before), len(after))
        if min(sizes) < ENOUGH or _certain((before, after)):
            continue
        if sizes not in draws:
            draws[sizes] = (
                rng.integers(0, sizes[0], (resamples, sizes[0])),
                rng.integers(0, sizes[1], (resamples, sizes[1])),
            )
        roots[j] = _roots(before, after, *draws[sizes])
    quantiles = balanced_quantiles(roots, (1 - confidence) * len(roots) / max(1, len(pairs)))
    error_each = (1 - confidence) / max(1, len(pairs))
    return [
        _around(pair, quantiles[j]) if j in quantiles else _by_welch(pair, error_each) for j, pair in enumerate(pairs)
    ]


def _values(sample: Mapping[int, float]) -> Array:
    return np.array(sorted(sample.values()), dtype=float)


def _spread(pair: Pair) -> float:
    blocks = min(map(len, pair))
    return _standard_error(*pair) * sqrt(blocks) if blocks > 1 else nan


def _certain(pair: Pair) -> bool:
    before, after = pair
    return np.array_equal(before, after) or (min(map(len, pair)) > 1 and _standard_error(before, after) == 0)


def _standard_error(before: Array, after: Array) -> float:
    return sqrt(before.var(ddof=1) / len(before) + after.var(ddof=1) / len(after))


def _roots(before: Array, after: Array, draw: NDArray[np.intp], other: NDArray[np.intp]) -> Array:
    first, second = before[draw], after[other]
    distance = np.median(second, axis=1) - np.median(first, axis=1) - (np.median(after) - np.median(before))
    variance = first.var(axis=1, ddof=1) / len(before) + second.var(axis=1, ddof=1) / len(after)
    return studentised(distance, np.sqrt(variance))


def _around(pair: Pair, quantile: float) -> Interval:
    before, after = pair
    median = float(np.median(after) - np.median(before))
    half_width = quantile * _standard_error(before, after)
    return Interval(median, median - half_width, median + half_width, "bootstrap")


def _by_welch(pair: Pair, error: float) -> Interval:
    before, after = pair
    if not len(before) or not len(after):
        return Interval(nan, -inf, inf, "none")
    median = float(np.median(after) - np.median(before))
    if _certain(pair):
        return Interval(median, median, median, "constant")
    if min(map(len, pair)) < 2:
        return Interval(median, -inf, inf, "none")
    standard_error = _standard_error(before, after)
    parts = (before.var(ddof=1) / len(before), after.var(ddof=1) / len(after))
    freedom = standard_error**4 / (parts[0] ** 2 / (len(before) - 1) + parts[1] ** 2 / (len(after) - 1))
    half_width = float(stats.t.ppf(1 - error / 2, freedom)) * standard_error
    mean = float(after.mean() - before.mean())
    return Interval(median, mean - half_width, mean + half_width, "student")
