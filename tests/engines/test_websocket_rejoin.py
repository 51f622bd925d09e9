"""Connections that come back when a server has gone: who was away, for how long, and what they missed."""

import time
from math import inf

import pytest

from loadtests.plan.times import AWAY
from loadtests.records.histogram import decoded
from tests.fixtures.websocket_server import DIALECTS

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]


@pytest.fixture
def rejoined(generating):
    """A function: the result of a load under which something happens to the server."""

    def make(load, happens=lambda: None):
        prepared = generating.prepare(load)
        to_happen = [happens]  # once, after a second: before the load begins what is lost is opened again
        prepared.measure(load.duration_s, on_second=lambda _: to_happen.pop()() if to_happen else None)
        return prepared.result()

    return make


def coming_back(server, receivers=12, duration_s=600.0, jitter_s=0.3):
    publishing = {"publishes_per_s": 50.0, "jitter_s": jitter_s}
    return server.load("rejoin", receivers=receivers, rate=0, duration_s=duration_s, arrival_seed=7, **publishing)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_that_were_lost_come_back_and_that_is_the_end_of_it(rejoined, conversing, dialect):
    server = conversing(dialect)
    result = rejoined(coming_back(server), server.kick)  # whose end pytest would not wait for
    assert (result.planned, result.sent, result.ok, result.deliveries) == (0, 0, 0, None)
    connections = result.connections
    assert (connections.requested, connections.opened, connections.refused, connections.lost) == (13, 13, 0, 0)
    found = connections.rejoined
    assert (found.lost, found.back) == (12, 12)
    assert decoded(result.histograms["away"]).total == 12
    assert 0 <= found.down_s <= found.all_back_s
    assert 1000 * found.all_back_s >= found.away_ms["p50"] > 0
    assert found.published > 0
    assert found.expected == 12 * found.published
    assert found.missed <= found.expected
    assert server.counts()["handshakes"] == 2 * 13


def test_each_waits_for_a_random_part_of_the_jitter(rejoined, conversing):
    server = conversing()
    result = rejoined(coming_back(server, receivers=100, jitter_s=2.0), server.kick)
    away = result.connections.rejoined.away_ms
    assert away["max"] - away["p50"] > 200
    assert away["max"] >= 1500  # of a hundred uniform draws up to 2 s


def test_who_never_comes_back_is_away_for_ever(rejoined, conversing):
    server = conversing()
    begun = time.monotonic()
    result = rejoined(coming_back(server, receivers=40, duration_s=4.0), server.end)
    assert time.monotonic() - begun >= 4
    connections, found = result.connections, result.connections.rejoined
    assert (connections.opened, connections.lost) == (41, 41)  # the publisher is one of them
    assert connections.reason
    assert (found.lost, found.back, found.down_s, found.all_back_s) == (40, 0, None, None)
    assert found.unsent > 0
    assert AWAY.percentile(result, "p50") == inf


@pytest.mark.parametrize(
    ("does", "published", "unsent", "expected", "missed"),
    [({"drop": 10}, 25, 0, 125, 12), ({"full": 5}, 20, 5, 100, 0)],
    ids=["what does not come is missed", "what a full layer does not take is not"],
)
def test_what_is_published_in_the_first_half_second_can_come(
    rejoined, conversing, does, published, unsent, expected, missed
):
    result = rejoined(coming_back(conversing(**does), receivers=5, duration_s=1.49))  # and nothing happens
    found = result.connections.rejoined
    assert (found.lost, found.back, found.down_s, found.all_back_s) == (0, 0, None, None)
    assert (found.published, found.unsent, found.expected, found.missed) == (published, unsent, expected, missed)
    assert result.connections.lost == 0
