"""From an interval to a verdict, and how far it is from one."""

from __future__ import annotations

from enum import Enum
from math import ceil, exp, isfinite, log, sqrt

import numpy as np
from scipy.special import stdtrit

from loadtests.analyse.moderated import Noise
from loadtests.analyse.overload import Standing

DELTA = 0.03
MOST_BLOCKS = 1000  # that anybody would run
WIDEST = 6  # a range from 10 to 60 blocks can be planned by, one from 10 to 100 cannot


class Verdict(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    CANNOT_HOLD = "cannot hold"
    LOSES = "loses"

    @property
    def above_ratios(self) -> bool:
        """Whether it stands above any ratio, and without one as well."""
        return self in (Verdict.CANNOT_HOLD, Verdict.LOSES)


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

    A rate that the candidate cannot hold is above any ratio, and so are deliveries that it loses. Where requests
    failed, what was answered was answered with less to do: so one that fails is neither faster than nor equivalent to
    another, and none is slower than one that fails.
    """
    if candidate.overload:
        return Verdict.CANNOT_HOLD
    if candidate.loses:
        return Verdict.LOSES
    doubted = {
        *((Verdict.FASTER, Verdict.EQUIVALENT) if candidate.fails else ()),
        *((Verdict.SLOWER, Verdict.EQUIVALENT) if baseline.fails else ()),
    }
    return Verdict.INCONCLUSIVE if read in doubted else read


def blocks_needed(
    log_ratio: float, noise: Noise | None, blocks: int, delta: float, family: int
) -> tuple[int, int] | None:
    """From how many to how many blocks would probably (four times in five) settle a comparison, if this is how things
    are.

    ``log_ratio`` is the mean of the log ratios seen in ``blocks`` blocks, ``noise`` how far they vary from block to
    block, ``family`` the number of comparisons corrected for. As few blocks know neither well, it is a range. Even
    numbers, as blocks come in mirrored pairs. None where nothing is known of the noise, where it is more than anybody
    would run, and where the range is so wide that nobody could plan by it. Where the truth is within reach the range
    nearly always holds it; where it is far off (five times the blocks there are), a range is given to the few
    studies that look better than they are, and is too low (``tools.simulation.needed``).
    """
    if noise is None or not isfinite(log_ratio) or blocks < 2:
        return None
    # Either the interval leaves 1 or it fits within delta: whichever takes less.
    room = max(abs(log_ratio), log(1 + delta) - abs(log_ratio))
    more = np.arange(2, MOST_BLOCKS)
    quantiles = stdtrit(noise.freedom * (more - 1) / (blocks - 1), 1 - 0.05 / (2 * family)) + 0.84
    enough = more[quantiles * sqrt(noise.variance) / np.sqrt(more) <= room]
    if not len(enough):
        return None
    # It goes with the noise's variance, and with the inverse square of the room.
    far = exp(sqrt(2 / noise.freedom + 4 * noise.variance / blocks / room**2))
    if far**2 > WIDEST:
        return None
    ends = (_even_after(blocks, float(enough[0]) / far), _even_after(blocks, float(enough[0]) * far))
    return ends if ends[1] < MOST_BLOCKS else None


def _even_after(blocks: int, wanted: float) -> int:
    """The even number that is ``wanted`` or more, and more than there are."""
    least = max(ceil(wanted), blocks + 1)
    return least + least % 2
