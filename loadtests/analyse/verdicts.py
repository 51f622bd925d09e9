"""From an interval to a verdict, and how many blocks one would take."""

from __future__ import annotations

from enum import Enum
from math import ceil, exp, isfinite, log, sqrt

import numpy as np
from scipy.special import stdtrit

from loadtests.analyse.moderated import Noise
from loadtests.analyse.overload import Standing

DELTA = 0.03
MOST_BLOCKS = 1000
WIDEST = 6  # ends of a useful range, most over least


class Verdict(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    CANNOT_SUSTAIN = "cannot sustain"
    LOSES = "loses"

    @property
    def above_ratios(self) -> bool:
        """Whether it needs no ratio."""
        return self in (Verdict.CANNOT_SUSTAIN, Verdict.LOSES)


def verdict(low: float, high: float, delta: float, more_is_better: bool) -> Verdict:
    """The verdict on a ratio between ``low`` and ``high``; for memory and CPU faster means better.

    Equivalent comes first: a significant difference below ``delta`` does not matter.
    """
    if 1 - delta <= low and high <= 1 + delta:
        return Verdict.EQUIVALENT
    if low > 1:
        return Verdict.FASTER if more_is_better else Verdict.SLOWER
    if high < 1:
        return Verdict.SLOWER if more_is_better else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def with_failures(by_interval: Verdict, baseline: Standing, candidate: Standing) -> Verdict:
    """Return the verdict with failures taken into account.

    An unsustained rate and lost deliveries matter more than any ratio. A setup with failures has less to do, so it is
    neither faster nor equivalent, and no setup is slower than it.
    """
    if candidate.overload:
        return Verdict.CANNOT_SUSTAIN
    if candidate.loses:
        return Verdict.LOSES
    doubted = {
        *((Verdict.FASTER, Verdict.EQUIVALENT) if candidate.fails else ()),
        *((Verdict.SLOWER, Verdict.EQUIVALENT) if baseline.fails else ()),
    }
    return Verdict.INCONCLUSIVE if by_interval in doubted else by_interval


def blocks_needed(
    log_ratio: float, noise: Noise | None, blocks: int, delta: float, family: int
) -> tuple[int, int] | None:
    """Return the range of blocks that would probably (four times in five) settle a comparison.

    The numbers are even, because blocks come in mirrored pairs. A number far away (five times the blocks) is usually
    None, or too low (``tools.simulation.needed``).

    Args:
        log_ratio: The mean over ``blocks``.
        noise: Its variation between blocks.
        blocks: The number of blocks.
        delta: The limit of equivalence.
        family: The number of comparisons that the interval is adjusted for.

    Returns:
        The range, or None if the noise isn't known, the number is too large or the range too wide.
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


def _even_after(blocks: int, least: float) -> int:
    """The next even number of at least ``least`` blocks, and more than there are."""
    count = max(ceil(least), blocks + 1)
    return count + count % 2
