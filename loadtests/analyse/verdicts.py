"""From an interval to a verdict, and how far it is from one."""

from __future__ import annotations

from enum import Enum
from math import isfinite, log, sqrt

from scipy import stats

from loadtests.analyse.holding import Standing
from loadtests.analyse.trimmed import cut_of

DELTA = 0.03
MOST_BLOCKS = 1000


class Verdict(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    CANNOT_HOLD = "cannot hold"


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


def with_failures(read: Verdict, baseline: Standing, candidate: Standing) -> Verdict:
    """The verdict that stands where requests failed, of the one that was ``read`` from the interval.

    A rate that the candidate cannot hold is above any ratio. Where requests failed, what was answered was answered
    with less to do: so one that fails is neither faster than nor equivalent to another, and none is slower than one
    that fails.
    """
    if candidate.overload:
        return Verdict.CANNOT_HOLD
    doubted = {
        *((Verdict.FASTER, Verdict.EQUIVALENT) if candidate.fails else ()),
        *((Verdict.SLOWER, Verdict.EQUIVALENT) if baseline.fails else ()),
    }
    return Verdict.INCONCLUSIVE if read in doubted else read


def blocks_needed(log_ratio: float, spread: float, blocks: int, delta: float, family: int) -> int | None:
    """How many blocks would probably (four times in five) settle a comparison, if this is how things are.

    ``log_ratio`` is the median of the log ratios seen in ``blocks`` blocks, ``spread`` how far they vary from block to
    block (a standard deviation), ``family`` the number of comparisons corrected for. An even number, as blocks come in
    mirrored pairs, at most ``MOST_BLOCKS``; None where nothing is known of the spread.
    """
    if not isfinite(log_ratio) or not isfinite(spread):
        return None
    # Either the interval leaves 1 or it fits within delta: whichever takes less.
    room = max(abs(log_ratio), log(1 + delta) - abs(log_ratio))
    error = 0.05 / (2 * family)
    for more in range(blocks + 1 + (blocks + 1) % 2, MOST_BLOCKS, 2):
        freedom = more - 2 * cut_of(more) - 1
        if (float(stats.t.ppf(1 - error, freedom)) + 0.84) * spread / sqrt(more) <= room:
            return more
    return MOST_BLOCKS
