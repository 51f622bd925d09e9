"""The order in which the requests of a workload are sent: by weight, seeded, the same everywhere.

Each request's sends are spread evenly over the cycle, and each is then moved by chance within its own stretch of it.
So any part of the cycle, not only the whole, holds the mix to within a send or two of each request: a short probe asks
what a long one asks, and a fast server gets the mix that a slow one gets. A shuffle would hold to it in the whole only.
A weighted round robin would in any part, too, but repeats after a few sends, and would march in step with whatever else
goes round: workers, connections.
"""

from __future__ import annotations

import array
import random
from collections.abc import Sequence

CYCLE = 1 << 16


def order(weights: Sequence[float], seed: int) -> array.array[int]:
    """The requests, as indices of ``weights``, in the order of a cycle of sends that is repeated for ever.

    The cycle is CYCLE long, and one long for one request.
    """
    chance = random.Random(seed)
    counts = shares(weights, CYCLE if len(weights) > 1 else 1)
    places = (((turn + chance.random()) / count, index) for index, count in enumerate(counts) for turn in range(count))
    return array.array("H", (index for _, index in sorted(places)))


def shares(weights: Sequence[float], total: int) -> list[int]:
    """``total`` divided by the weights, by the largest remainders; each gets at least one of it."""
    spare = total - len(weights)
    exact = [max(weight / sum(weights) * total - 1, 0.0) for weight in weights]
    exact = [share / (sum(exact) or 1) * spare for share in exact]
    found = [1 + int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: int(exact[index]) - exact[index])
    for index in by_remainder[: total - sum(found)]:
        found[index] += 1
    return found
