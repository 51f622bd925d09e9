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
from loadtests.analyse.observations import Observation, Observations
from loadtests.analyse.overload import SOUND
from loadtests.analyse.trimmed import Array
from loadtests.analyse.verdicts import DELTA

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
    # If a run is compared with itself, the ratio is exactly 1, even for lower bounds.
    itself = all(trimmed.same(*pair) for pair in pairs)
    bounds = [(not itself and first.bounded(*cell), not itself and second.bounded(*cell)) for cell in cells]
    found = [opened(one, below, above) for one, (below, above) in zip(simultaneous(pairs), bounds, strict=True)]
    return [
        settle(
            Pairing(
                baseline=label,
                candidate=label,
                test=test,
                metric=metric,
                blocks=min(map(len, pair)),
                baseline_standing=standings[0].get((label, test), SOUND),
                candidate_standing=standings[1].get((label, test), SOUND),
                at_least=above,
                at_most=below,
            ),
            interval,
            delta,
            len(cells),
        )
        for (test, metric, label), pair, interval, (below, above) in zip(cells, pairs, found, bounds, strict=True)
    ]


def simultaneous(pairs: Sequence[Pair], confidence: float = CONFIDENCE) -> list[Interval]:
    """Return an interval for the difference between the means of each pair of sorted samples.

    All intervals hold simultaneously.

    If a run is compared with itself, the differences have no uncertainty. For two different runs, the method is the
    same as in ``intervals.simultaneous``, but with Yuen's standard error, because the noise of the runs may differ.
    With few blocks, the intervals are Welch's t intervals.
    """
    if all(trimmed.same(*pair) for pair in pairs):
        return [_exactly(pair) for pair in pairs]
    error_each = (1 - confidence) / max(1, len(pairs))
    return [_interval(pair, error_each) for pair in pairs]


def _values(sample: Mapping[int, float]) -> Array:
    return np.array(sorted(sample.values()), dtype=float)


def _exactly(pair: Pair) -> Interval:
    value = _apart(pair)
    return Interval(value, value, value, "constant")


def _apart(pair: Pair) -> float:
    """Return the second sample's median minus the first sample's median, or NaN if both medians are infinite."""
    before, after = map(middle, pair)
    return nan if before == after == inf else after - before


def _cuts(pair: Pair) -> tuple[int, int]:
    """Return how many values to leave out at each end of each sample, or zeros if either sample isn't trimmed."""
    before, after = map(trimmed.cut, pair)
    return (before, after) if before and after else (0, 0)


def _centres(pair: Pair, cuts: tuple[int, int]) -> list[tuple[float, float]]:
    found = [trimmed.centre(values, outside) for values, outside in zip(pair, cuts, strict=True)]
    return [(float(centre), float(error)) for centre, error in found]


def _interval(pair: Pair, error: float) -> Interval:
    if min(map(len, pair)) < 2 or not all(trimmed.finite(values, trimmed.cut_of(len(values))) for values in pair):
        return Interval(_apart(pair), -inf, inf, "none")
    if all(map(trimmed.constant, pair)):
        return equal(_apart(pair), min(map(len, pair)), error)
    cuts = _cuts(pair)
    (first, first_error), (second, second_error) = _centres(pair, cuts)
    errors = (first_error, second_error)
    quantile = _of_yuen(pair, cuts, errors, error) if any(cuts) else _of_welch(pair, errors, error)
    return around(second - first, quantile * hypot(*errors), "trimmed" if any(cuts) else "student")


def _of_welch(pair: Pair, errors: tuple[float, float], error: float) -> float:
    shares = [each**2 / hypot(*errors) ** 2 for each in errors]
    freedom = 1 / sum(share**2 / (len(values) - 1) for share, values in zip(shares, pair, strict=True))
    return float(stdtrit(freedom, 1 - error / 2))


def _of_yuen(pair: Pair, cuts: tuple[int, int], errors: tuple[float, float], error: float) -> float:
    """Simulate the quantile for Yuen's standard error with noise samples of the same sizes and standard errors."""
    (first, first_error), (second, second_error) = (
        trimmed.of_noise(len(values), outside) for values, outside in zip(pair, cuts, strict=True)
    )
    scale, other = errors[0] / first_error.mean(), errors[1] / second_error.mean()
    # The simulated samples of two equally large sides are identical. Shifting one side makes them independent.
    distance = scale * first - other * np.roll(second, 1)
    drawn_error = np.hypot(scale * first_error, other * np.roll(second_error, 1))
    return float(np.quantile(np.abs(distance) / drawn_error, 1 - error))
