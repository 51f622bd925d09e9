"""Compare two runs. Their blocks aren't paired, so the samples are independent.

If the whole machine became faster or slower between the runs, the ratios include this change, but the intervals don't
allow for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot, inf, nan

import numpy as np
from scipy.special import stdtrit

from loadtests.analyse import trimmed
from loadtests.analyse.compare.within import Comparison, Pairing, Standings, settle
from loadtests.analyse.intervals import CONFIDENCE, Interval, around, equal, middle, opened
from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA
from loadtests.trials.observations import Observation, Observations
from loadtests.trials.overload import SOUND

Pair = tuple[Array, Array]


def compare_runs(
    before: Iterable[Observation],
    after: Iterable[Observation],
    delta: float = DELTA,
    standings: tuple[Standings, Standings] = ({}, {}),
) -> list[Comparison]:
    """Compare each label in every test and metric that both runs contain.

    The ``ratio`` is the mean of the second run divided by the mean of the first run.
    """
    first, second = Observations(before), Observations(after)
    both = set(second.cells())
    cells = [cell for cell in first.cells() if cell in both]
    pairs = [(_values(first.sample(*cell)), _values(second.sample(*cell))) for cell in cells]
    comparisons = []
    for cell, pair, interval in zip(cells, pairs, simultaneous(pairs), strict=True):
        test, metric, label = cell
        pairing = Pairing(
            baseline=label,
            candidate=label,
            test=test,
            metric=metric,
            blocks=min(map(len, pair)),
            baseline_standing=standings[0].get((label, test), SOUND),
            candidate_standing=standings[1].get((label, test), SOUND),
            at_least=second.bounded(*cell),
            at_most=first.bounded(*cell),
        )
        interval = opened(interval, below=pairing.at_most, above=pairing.at_least)
        comparisons.append(settle(pairing, interval, delta, len(cells)))
    return comparisons


def simultaneous(pairs: Sequence[Pair], confidence: float = CONFIDENCE) -> list[Interval]:
    """Return an interval for the difference between the means of each pair of sorted samples.

    All intervals hold simultaneously. They are Welch's t intervals, or for trimmed means, Yuen's t intervals (see
    ``trimmed``), because the noise of the runs may differ.
    """
    error_each = (1 - confidence) / max(1, len(pairs))
    return [_interval(pair, error_each) for pair in pairs]


def _values(sample: Mapping[int, float]) -> Array:
    return np.array(sorted(sample.values()), dtype=float)


def _apart(pair: Pair) -> float:
    """Return the second sample's median minus the first sample's median, or NaN if both medians are infinite."""
    before, after = map(middle, pair)
    return nan if before == after == inf else after - before


def _interval(pair: Pair, error: float) -> Interval:
    if min(map(len, pair)) < 2 or not all(trimmed.finite(values, trimmed.cut_of(len(values))) for values in pair):
        return Interval(_apart(pair), -inf, inf, "none")
    if all(map(trimmed.constant, pair)):
        return equal(_apart(pair), min(map(len, pair)), error)
    cuts = [trimmed.cut(values) for values in pair] if all(map(trimmed.cut, pair)) else [0, 0]
    (first, *first_error), (second, *second_error) = (
        map(float, trimmed.centre(values, outside)) for values, outside in zip(pair, cuts, strict=True)
    )
    errors = (*first_error, *second_error)
    counts = [len(values) - 2 * outside for values, outside in zip(pair, cuts, strict=True)]
    freedom = hypot(*errors) ** 4 / sum(one**4 / (count - 1) for one, count in zip(errors, counts, strict=True))
    reach = float(stdtrit(freedom, 1 - error / 2)) * hypot(*errors)
    return around(second - first, reach, "trimmed" if any(cuts) else "student")
