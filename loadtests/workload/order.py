"""Determine the order of a workload's requests from their weights and a seed. The order is the same on every machine.

The sends of each request are spread evenly over a cycle, and each send is then moved randomly within its part of the
cycle. So any part of the cycle contains the right mix, within one or two sends of each request. A short probe therefore
sends the same mix as a long probe, and a fast server receives the same mix as a slow server. A shuffle contains the
right mix only over the whole cycle. A weighted round robin also contains the right mix in any part, but it repeats
after a few sends, and could stay in step with other cycles such as workers and connections.
"""

from __future__ import annotations

import array
import random
from collections.abc import Sequence

CYCLE = 1 << 16


def order(weights: Sequence[float], seed: int) -> array.array[int]:
    """Return a cycle of sends, which the load repeats, as indices of ``weights``.

    The cycle consists of CYCLE sends, or of one send if there is only one request.
    """
    chance = random.Random(seed)
    counts = shares(weights, CYCLE if len(weights) > 1 else 1)
    places = (((turn + chance.random()) / count, index) for index, count in enumerate(counts) for turn in range(count))
    return array.array("H", (index for _, index in sorted(places)))


def shares(weights: Sequence[float], total: int) -> list[int]:
    """Divide ``total`` in proportion to the weights, with the largest remainder method. Each share is at least 1."""
    spare = total - len(weights)
    exact = [max(weight / sum(weights) * total - 1, 0.0) for weight in weights]
    exact = [share / (sum(exact) or 1) * spare for share in exact]
    found = [1 + int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: int(exact[index]) - exact[index])
    for index in by_remainder[: total - sum(found)]:
        found[index] += 1
    return found
