"""How an interleaved trial is cut into slices.

The speed of a machine drifts over tens of seconds. Setups whose load is interleaved, for half a second, meet the same
speed; trials in a row do not. The order is shuffled, and mirrored in the next round, as blocks are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

# The shorter, the nearer in time is what is compared (docs/simulations shows how much half a second tells more than a
# whole one); still shorter ones would be spent on settling.
SLICE_S = 0.5
# What is sent first in a slice is not measured: a setup that has rested finds its memory out of the caches, and maybe
# its connections closed. After so long the response times are those of the rest of the slice.
SETTLE_S = 0.1
# A queue takes some ten times as long as an answer until it is as long as it stays, and begins anew in each slice.
SETTLE_ANSWERS = 10
MOST_SETTLE_S = 2.0
BETWEEN_S = 0.12  # about how long it takes to go on to the next setup
LEAST_GRACE_S = 0.1


def settle(answer_s: float) -> float:
    """For how many seconds to send before a slice is measured; ``answer_s`` is how long an answer takes at rest."""
    return min(MOST_SETTLE_S, max(SETTLE_S, SETTLE_ANSWERS * answer_s))


def slices(duration_s: float, answer_s: float = 0.0) -> list[float]:
    """The seconds of each slice of a trial that measures for ``duration_s``: as long as each other but for the last,
    which is shorter where that is no whole number of them.

    ``answer_s`` is how long the slowest setup takes to answer at rest. Where it would have to settle for longer than a
    slice, there is a single one, and the setups are measured one after the other.
    """
    if settle(answer_s) > SLICE_S:
        return [duration_s]
    whole = math.floor(duration_s / SLICE_S + 1e-9)
    rest = round(duration_s - whole * SLICE_S, 6)
    return [SLICE_S] * whole + [rest] * (rest > 0)


def orders(labels: Sequence[str], rounds: int, seed: int) -> list[list[str]]:
    """The labels in the order of each round: shuffled, and every second round mirrors the one before."""
    generator = random.Random(seed)
    found: list[list[str]] = []
    for number in range(rounds):
        if number % 2:
            found.append(found[-1][::-1])
        else:
            found.append(generator.sample(labels, len(labels)))
    return found


def grace(first_s: float, in_vain: int) -> float:
    """For how long a slice waits for what is outstanding when it is over: half as long after each slice of its trial
    that did so in vain, as it is known by then that the setup loses some."""
    return max(first_s * 0.5**in_vain, LEAST_GRACE_S)


def seconds(duration_s: float) -> float:
    """About how long it takes to measure one setup for ``duration_s`` in slices. Half as long again where messages
    are lost, for which a slice waits (``grace``)."""
    return duration_s + len(slices(duration_s)) * (SETTLE_S + BETWEEN_S)
