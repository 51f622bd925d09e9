"""From an interval to a verdict, and how far it is from one."""

from __future__ import annotations

from enum import Enum
from math import exp, inf, isfinite, log, pi, sqrt

from scipy import stats

DELTA = 0.03
MOST_BLOCKS = 1000


class Verdict(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


def verdict(low: float, high: float, delta: float, more_is_better: bool) -> Verdict:
    """The verdict on a candidate whose ratio to the baseline lies between ``low`` and ``high``.

    Equivalent comes first: a difference that is surely there and surely under ``delta`` does not matter. For
    memory and CPU read faster as better.
    """
    if 1 - delta <= low and high <= 1 + delta:
        return Verdict.EQUIVALENT
    if low > 1:
        return Verdict.FASTER if more_is_better else Verdict.SLOWER
    if high < 1:
        return Verdict.SLOWER if more_is_better else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def blocks_needed(log_ratio: float, spread: float, blocks: int, delta: float, family: int) -> int | None:
    """How many blocks would probably (four times in five) settle a comparison, if this is how things are.

    ``log_ratio`` and ``spread`` are the median and the standard deviation of the log ratios seen in ``blocks``
    blocks, ``family`` the number of comparisons corrected for. An even number, as blocks come in mirrored pairs, at
    most ``MOST_BLOCKS``; None where nothing is known of the spread.
    """
    if not isfinite(log_ratio) or not isfinite(spread):
        return None
    # Either the interval leaves 1 or it fits within delta: whichever takes less.
    room = max(abs(log_ratio), log(1 + delta) - abs(log_ratio))
    error = 0.05 / (2 * family)
    for more in range(blocks + 1 + (blocks + 1) % 2, MOST_BLOCKS, 2):
        # pi / 2 is the price in variance of the median against the mean.
        standard_error = spread * sqrt(pi / 2 / more)
        if (float(stats.t.ppf(1 - error, more - 1)) + 0.84) * standard_error <= room:
            return more
    return MOST_BLOCKS


def plus_minus(low: float, high: float) -> float:
    """Half the width of a ratio's interval, relative: 0.02 is plus or minus 2%. Infinite for an open interval."""
    if low <= 0 or not isfinite(high):
        return inf
    return exp((log(high) - log(low)) / 2) - 1
