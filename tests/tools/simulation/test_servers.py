"""Test the search with simulated servers of known capacity."""

import numpy as np
import pytest

from loadtests.measure.searches.capacity import LimitedBy, Purpose
from loadtests.plan.objective import Objective, SearchPlan
from tests.fixtures.exhaustive import exhaustive_but
from tools.simulation.servers import queue, search, servers

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]
OBJECTIVE = Objective()
PLAN = SearchPlan(requests=OBJECTIVE.requests)
QUEUE, SLOW_QUEUE = "queue of 1000/s", "queue of 200/s"
HEAVY, DRIFTING = "heavy-tailed service times, 1000/s", "drifting by 3%"
NAMES = [
    *(QUEUE, SLOW_QUEUE, "queue of 5000/s", "queue of 1000/s, evenly paced"),
    *("8 workers, 125/s each", "constant service times, 400/s"),
    *(HEAVY, DRIFTING, "noisy", "cliff", "slow leak", "generator-limited"),
]


@pytest.fixture(scope="module")
def known():
    """Return the simulated servers by name."""
    known = {server.name: server for server in servers(OBJECTIVE, PLAN.long_s)}
    assert list(known) == NAMES  # the tests below cover each simulated server
    return known


@pytest.mark.parametrize("name", exhaustive_but(NAMES[:2], NAMES))
def test_capacity_is_found_within_five_percent(known, name):
    server = known[name]
    found = [search(server, PLAN, OBJECTIVE, np.random.default_rng(seed)).found for seed in range(5)]
    rates = [one.rate for one in found if one.rate is not None]
    assert len(rates) == 5
    assert np.median(rates) == pytest.approx(server.capacity, rel=0.05)
    # A single search may have a larger error, especially if p99 rises slowly. A study uses the median of several
    # blocks.
    assert rates == pytest.approx([server.capacity] * 5, rel=0.12 if name in {SLOW_QUEUE, HEAVY} else 0.08)
    assert max(len(one.records) for one in found) <= 50
    expected = LimitedBy.GENERATOR if server.generator_limit else LimitedBy.SERVER
    assert {one.limited_by for one in found} == {expected}


@pytest.mark.parametrize("name", exhaustive_but([QUEUE], [QUEUE, "queue of 5000/s", "cliff", DRIFTING]))
def test_capacity_is_found_in_two_minutes(known, name):
    searches = [search(known[name], PLAN, OBJECTIVE, np.random.default_rng(seed)) for seed in range(15)]
    assert max(one.bracket_s for one in searches) < 60
    assert np.median([one.seconds for one in searches]) < 130


def test_slow_leak_fails_only_long_probes(known):
    leak = known["slow leak"]
    found = search(leak, PLAN, OBJECTIVE, np.random.default_rng(0)).found
    short = [r.probe.rate for r in found.records if r.probe.purpose is not Purpose.CONFIRM and r.judgement.clear]
    assert max(short) > leak.capacity > (found.rate or 0)


def test_overload_is_detected_early():
    probe = queue(1000, OBJECTIVE).probe(2000, 30, OBJECTIVE, np.random.default_rng(0))
    assert probe.lost is not None
    assert "by second 1" in probe.lost
