"""Test the order of a mix. The shares are exact over a cycle and almost exact in any part. A seed sets the order."""

import itertools
import random
from collections import Counter

import pytest

from loadtests.workload.order import CYCLE, order, shares

chance = random.Random(4)
MIXES = [
    [5],
    [1, 1],
    [3, 1],
    [0.7, 0.2, 0.1],
    [1000, 1],
    [1e-9, 1e9],
    *([chance.paretovariate(0.7) for _ in range(chance.randint(2, 60))] for _ in range(8)),
]


@pytest.mark.parametrize("weights", MIXES[1:])
def test_each_request_has_its_share(weights):
    counts = Counter(order(weights, 1))
    assert counts.total() == CYCLE
    for index, weight in enumerate(weights):
        exact = CYCLE * weight / sum(weights)
        # A request that is too rare for a cycle still has one place, which reduces the places of other requests.
        assert counts[index] == 1 if exact < 1 else abs(counts[index] - exact) < 1 + len(weights) * exact / CYCLE
    sent = Counter()
    share = [count / CYCLE for count in shares(weights, CYCLE)]
    for length, index in enumerate(itertools.islice(order(weights, 2), 5000), start=1):
        sent[index] += 1
        # Each request is at most one place away from its exact position, so in any part, the counts are off by at most
        # the number of requests in the mix.
        assert abs(sent[index] - length * share[index]) <= 1 + len(weights) * share[index] + 1e-9


def test_seed_determines_the_order():
    assert order([3, 2, 1], 1) == order([3, 2, 1], 1) != order([3, 2, 1], 2)
    assert order([3, 2, 1], 2016)[:12].tolist() == [2, 1, 0, 0, 1, 0, 0, 1, 0, 2, 1, 0]  # equal in every Python version
    assert order([5], 1).tolist() == [0]
