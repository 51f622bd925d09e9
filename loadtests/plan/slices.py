"""Cut an interleaved trial into slices.

The speed of a machine drifts over tens of seconds. Setups that get load alternately, for half a second each, run at
the same speed. Setups whose whole trials follow each other don't. As in blocks, the order of setups is shuffled in one
round and mirrored in the next round.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

# Shorter slices bring compared measurements closer together (docs/simulations compares half a second with a second).
# Even shorter slices would mostly consist of settling.
SLICE_S = 0.5
# The first part of a slice isn't measured, because after a pause the setup's memory isn't in the caches, and its
# connections may be closed. After this time, response times are the same as in the rest of the slice.
SETTLE_S = 0.1
# At the start of a slice, queues are empty. They reach their steady length after about ten times the time of an answer.
SETTLE_ANSWERS = 10
MAX_SETTLE_S = 2.0
# Slow setups get longer slices, so that settling, and the answers outstanding at the end, don't take most of the time.
SETTLES_IN_SLICE = 4
BETWEEN_S = 0.12  # the approximate time to switch to the next setup
MIN_GRACE_S = 0.1


def settle(answer_s: float) -> float:
    """Return the seconds of load before a slice is measured. ``answer_s`` is the time of an answer without load."""
    return min(MAX_SETTLE_S, max(SETTLE_S, SETTLE_ANSWERS * answer_s))


def slices(duration_s: float, answer_s: float = 0.0) -> list[float]:
    """Return the seconds of each slice of a trial. All slices are equal.

    If there is only one slice, the setups are measured one after the other.

    Args:
        duration_s: The measured seconds of the trial.
        answer_s: The time of an answer without load, for the slowest setup.
    """
    least_s = max(SLICE_S, SETTLES_IN_SLICE * settle(answer_s))
    number = max(1, math.floor(duration_s / least_s + 1e-9))
    return [duration_s / number] * number


def orders(labels: Sequence[str], rounds: int, seed: int) -> list[list[str]]:
    """Return the order of labels in each round. The order is shuffled, and mirrored in every second round."""
    generator = random.Random(seed)
    found: list[list[str]] = []
    for number in range(rounds):
        if number % 2:
            found.append(found[-1][::-1])
        else:
            found.append(generator.sample(labels, len(labels)))
    return found


def grace(first_s: float, in_vain: int) -> float:
    """Return the seconds that a slice waits for outstanding requests after its last request.

    In a trial, the time is halved after each slice whose wait was unsuccessful, because such a setup loses requests.
    """
    return max(first_s * 0.5**in_vain, MIN_GRACE_S)


def seconds(duration_s: float) -> float:
    """Estimate the time to measure a setup for ``duration_s`` in slices.

    If messages are lost, the time is 1.5 times as long, because slices wait for these messages (see ``grace``).
    """
    return duration_s + len(slices(duration_s)) * (SETTLE_S + BETWEEN_S)
