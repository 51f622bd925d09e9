"""Connections that come back when a server has gone: who was away, for how long, and what they missed."""

import threading
import time
from math import inf

import pytest

from loadtests.plan.times import AWAY
from loadtests.records.histogram import Histogram
from tests.fixtures.websocket_server import DIALECTS

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]


@pytest.fixture
def rejoined(generating):
    """A function: the result of a load under which something happens to the server, and how many seconds it took."""

    def make(load, happens=lambda: None):
        prepared = generating.prepare(load)
        doing = threading.Timer(0.3, happens)
        doing.start()
        begun = time.monotonic()
        prepared.measure(load.duration_s)
        took_s = time.monotonic() - begun
        doing.join()
        return prepared.result(), took_s

    return make


def coming_back(server, receivers=12, duration_s=600.0, jitter_s=0.3):
    publishing = {"publishes_per_s": 50.0, "jitter_s": jitter_s}
    return server.load("rejoin", receivers=receivers, rate=0, duration_s=duration_s, arrival_seed=7, **publishing)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_that_were_lost_come_back_and_that_is_the_end_of_it(rejoined, conversing, dialect):
    server = conversing(dialect)
    result, _ = rejoined(coming_back(server), server.kick)  # whose end pytest would not wait for
    assert (result.planned, result.sent, result.ok, result.deliveries) == (0, 0, 0, None)
    connections = result.connections
    assert (connections.requested, connections.opened, connections.refused, connections.lost) == (13, 13, 0, 0)
    found = connections.rejoined
    assert (found.lost, found.back) == (12, 12)
    assert Histogram.decode(result.histograms["away"]).total == 12
    assert 0 <= found.down_s <= found.all_back_s
    assert 1000 * found.all_back_s >= found.away_ms["p50"] > 0
    assert found.published > 0
    assert found.expected == 12 * found.published
    assert found.missed <= found.expected
    assert server.counts()["handshakes"] == 2 * 13


def test_each_waits_for_a_random_part_of_the_jitter(rejoined, conversing):
    server = conversing()
    result, _ = rejoined(coming_back(server, receivers=100, jitter_s=2.0), server.kick)
    away = result.connections.rejoined.away_ms
    assert away["max"] - away["p50"] > 200
    assert away["max"] >= 1500  # of a hundred uniform draws up to 2 s


def test_who_never_comes_back_is_away_for_ever(rejoined, conversing):
    server = conversing()
    result, took_s = rejoined(coming_back(server, receivers=40, duration_s=4.0), server.end)
    assert took_s >= 4
    connections, found = result.connections, result.connections.rejoined
    assert (connections.opened, connections.lost) == (41, 41)  # the publisher is one of them
    assert connections.reason
    assert (found.lost, found.back, found.down_s, found.all_back_s) == (40, 0, None, None)
    assert found.unsent > 0
    assert AWAY.percentile(result, "p50") == inf


def test_what_is_published_and_does_not_come_is_missed(rejoined, conversing):
    server = conversing(drop=10)
    result, _ = rejoined(coming_back(server, receivers=5, duration_s=1.49))  # and nothing happens
    found = result.connections.rejoined
    assert (found.lost, found.back, found.down_s, found.all_back_s) == (0, 0, None, None)
    assert found.published == 25  # in the first half second, so that all can come
    assert (found.expected, found.missed, found.unsent) == (125, 12, 0)
    assert result.connections.lost == 0


def test_what_a_full_layer_does_not_take_is_not_missed(rejoined, conversing):
    result, _ = rejoined(coming_back(conversing(full=5), receivers=4, duration_s=1.49))
    found = result.connections.rejoined
    assert (found.published, found.unsent, found.expected, found.missed) == (20, 5, 80, 0)
