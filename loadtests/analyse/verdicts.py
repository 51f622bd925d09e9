"""Derive the verdict of a comparison from its interval and from failures."""

from __future__ import annotations

from enum import Enum

from loadtests.trials.overload import Standing

DELTA = 0.03


class Verdict(str, Enum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    CANNOT_SUSTAIN = "cannot sustain"
    LOSES = "loses"

    @property
    def above_ratios(self) -> bool:
        """Whether the verdict doesn't need a ratio."""
        return self in (Verdict.CANNOT_SUSTAIN, Verdict.LOSES)


def verdict(low: float, high: float, delta: float, more_is_better: bool) -> Verdict:
    """Return the verdict for a ratio between ``low`` and ``high``. For memory and CPU time, faster means better.

    A significant difference below ``delta`` doesn't matter, so equivalence is checked first.
    """
    if 1 - delta <= low and high <= 1 + delta:
        return Verdict.EQUIVALENT
    if low > 1:
        return Verdict.FASTER if more_is_better else Verdict.SLOWER
    if high < 1:
        return Verdict.SLOWER if more_is_better else Verdict.FASTER
    return Verdict.INCONCLUSIVE


def with_failures(by_interval: Verdict, baseline: Standing, candidate: Standing) -> Verdict:
    """Return the verdict after failures are taken into account.

    An unsustained rate and lost deliveries matter more than any ratio. A setup with failures does less work, so it is
    never called faster or equivalent, and no other setup is called slower than it.
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
