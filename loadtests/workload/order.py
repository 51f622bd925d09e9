"""The order of a workload's requests: by weight, with a seed, and the same everywhere.

The sends of each request are spread evenly over the cycle, and each is then moved randomly within its part of the
cycle. Any part of the cycle, not only the whole, has the right mix, within one or two sends of each request. A short
probe therefore has the same mix as a long one, and a fast server gets the same mix as a slow one. A shuffle has the
right mix only over the whole cycle. A weighted round robin has the right mix in any part too, but repeats after a few
sends, and would stay in step with other cycles such as workers and connections.
"""

from __future__ import annotations

import array
import random
from collections.abc import Sequence

CYCLE = 1 << 16


def order(weights: Sequence[float], seed: int) -> array.array[int]:
    """Return the requests, as indices of ``weights``, in the order of a repeating cycle of sends.

    The cycle has CYCLE sends, or one send if there is only one request.
    """
    chance = random.Random(seed)
    counts = shares(weights, CYCLE if len(weights) > 1 else 1)
    places = (((turn + chance.random()) / count, index) for index, count in enumerate(counts) for turn in range(count))
    return array.array("H", (index for _, index in sorted(places)))


def shares(weights: Sequence[float], total: int) -> list[int]:
    """Divide ``total`` by the weights with the largest remainder method. Each weight gets at least one."""
    spare = total - len(weights)
    exact = [max(weight / sum(weights) * total - 1, 0.0) for weight in weights]
    exact = [share / (sum(exact) or 1) * spare for share in exact]
    found = [1 + int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: int(exact[index]) - exact[index])
    for index in by_remainder[: total - sum(found)]:
        found[index] += 1
    return found
