"""Each delivery at each receiver is counted, and each message by its last receiver, whatever a server of known
behaviour does to them."""

from math import inf

import pytest

from loadtests.engines import get
from loadtests.plan.times import LAST
from loadtests.records.histogram import Histogram
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.websocket_server import DIALECTS, counts

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
@pytest.mark.parametrize(
    ("does", "counted", "whole"),
    [
        ({"drop": 20}, (400, 380, 20, 0, 0), 80),  # of each fifth message the last receiver lacks it
        ({"twice": 20}, (400, 400, 0, 20, 0), 100),
        # Each twentieth is sent after the next one; the last of them waits for one that is never sent.
        ({"swap": 20}, (400, 396, 4, 0, 16), 99),
    ],
    ids=["drop", "twice", "swap"],
)
def test_deliveries_are_counted_by_what_became_of_them(measured, conversing, dialect, does, counted, whole):
    load = conversing(dialect, **does).load("broadcast", receivers=4, rate=100, duration_s=1, connections=1)
    result = measured(load)
    assert (result.planned, result.ok, result.deliveries.messages) == (100, 100, 100)
    assert (counts(result.deliveries), result.deliveries.whole) == (counted, whole)


def test_the_time_to_the_last_receiver_is_that_of_the_slowest(measured, conversing):
    server = conversing(late=8)  # of each second message, one of four deliveries, by 600 ms
    result = measured(server.load("broadcast", receivers=4, rate=20, duration_s=1, connections=1))
    found = result.deliveries
    assert (found.expected, found.missing, found.messages, found.whole) == (80, 0, 20, 20)
    last = Histogram.decode(result.histograms["last"])
    assert (last.total, last.over(599_000)) == (20, 10)
    assert Histogram.decode(result.histograms["lag"]).over(599_000) == 10
    assert found.last_ms["max"] == found.lag_ms["max"] >= 600
    assert found.lag_ms["p50"] < found.lag_ms["max"]


def test_what_was_read_late_is_a_part_of_the_lag(measured, conversing):
    result = measured(conversing(after=100).load("broadcast", receivers=20, rate=40, duration_s=0.5, connections=1))
    assert Histogram.decode(result.histograms["reading_lag"]).total == result.deliveries.delivered == 400
    assert 0 < result.deliveries.reading_lag_ms["max"] <= result.deliveries.lag_ms["max"]
    assert result.deliveries.lag_ms["p50"] >= 100
    assert result.deliveries.reading_lag_ms["p50"] < result.deliveries.lag_ms["p50"]


def test_a_frozen_receiver_is_seen(measured, conversing):
    server = conversing(frozen=True)
    result = measured(server.load("broadcast", receivers=5, rate=40, duration_s=0.5, connections=1))
    assert (result.planned, result.ok) == (20, 20)
    assert counts(result.deliveries) == (100, 80, 20, 0, 0)
    assert result.connections.lost == 0
    assert (result.deliveries.messages, result.deliveries.whole, LAST.percentile(result, "p50")) == (20, 0, inf)


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_what_a_layer_refuses_is_an_error_and_no_loss(measured, conversing, dialect):
    server = conversing(dialect, full=4)
    result = measured(server.load("broadcast", receivers=5, rate=40, duration_s=1, connections=2))
    assert (result.planned, result.ok, result.completed, result.errors) == (40, 30, 40, {"status": 10})
    assert result.examples == {"status": "full: the layer did not take it"}
    assert counts(result.deliveries) == (150, 150, 0, 0, 0)


@pytest.mark.parametrize(("takes_ms", "falls_behind"), [(10, True), (1, False)])
def test_deliveries_that_fall_behind_are_seen_though_all_come_in_the_end(measured, conversing, takes_ms, falls_behind):
    server = conversing(queue=takes_ms)  # of 200 a second, each takes so long, and publishes are taken at once
    result = measured(server.load("broadcast", receivers=5, rate=40, duration_s=1, connections=1, timeout_s=5.0))
    assert (result.planned, result.ok) == (40, 40)
    assert all(abs(more) <= 1 for more in result.backlog)  # one may be on its way when the measured part begins
    found = result.deliveries
    assert (found.expected, found.missing) == (200, 0)
    [grown] = found.backlog
    assert (grown > 40) == (grown > 20) == falls_behind
    assert (found.in_time < 120) == (found.in_time < 190) == falls_behind


def test_what_reaches_another_room_breaks_the_contract(measured, conversing):
    server = conversing(stray=10)
    result = measured(server.load("broadcast", receivers=6, rooms=3, rate=60, duration_s=0.5, connections=1))
    assert counts(result.deliveries) == (60, 60, 0, 0, 0)
    assert (result.deliveries.stray, result.contradicting) == (3 * 4, 3 * 4)
    assert (result.deliveries.messages, result.deliveries.whole) == (30, 30)
    assert result.examples == {"wrong-body": "12 messages came to connections that they were not meant for"}


@pytest.mark.parametrize("processes", exhaustive_but((2,), [1, 2, 3]))
def test_rooms_that_processes_share_get_what_those_of_one_get(conversing, processes):
    server = conversing(drop=40)
    talk = {"receivers": 13, "rooms": 4, "connections": 2, "processes": processes}  # 4 in the first, 3 in the others
    result = get("openloop").run(server.load("broadcast", rate=200, duration_s=0.8, **talk))
    assert (result.planned, result.sent, result.ok) == (160, 160, 160)
    assert counts(result.deliveries) == (520, 520 - 13, 13, 0, 0)
    assert (result.deliveries.messages, result.deliveries.whole, result.deliveries.stray) == (160, 160 - 13, 0)
    assert (result.connections.requested, result.connections.opened) == (13 + 2 * 4, 13 + 2 * 4)
    assert [part.planned for part in result.generator] == {1: [160], 2: [80, 80], 3: [80, 40, 40]}[processes]


@pytest.mark.parametrize("rooms", exhaustive_but((1,), [1, 2]))
def test_a_room_whose_receivers_are_in_several_processes_gets_what_that_of_one_gets(conversing, rooms):
    server = conversing(drop=40)
    talk = {"receivers": 13, "rooms": rooms, "connections": 2, "processes": 3}
    result = get("openloop").run(server.load("broadcast", rate=40 * rooms, duration_s=0.8, **talk))
    sent = 32 * rooms
    assert (result.planned, result.sent, result.ok) == (sent, sent, sent)
    received = 32 * 13
    lost = received // 40
    assert counts(result.deliveries) == (received, received - lost, lost, 0, 0)
    assert (result.deliveries.messages, result.deliveries.whole, result.deliveries.stray) == (sent, sent - lost, 0)
    assert Histogram.decode(result.histograms["last"]).total == sent - lost
    assert Histogram.decode(result.histograms["lag"]).total == Histogram.decode(result.histograms["reading_lag"]).total
    assert result.connections.opened == result.connections.requested == 13 + 2 * rooms
    assert [part.planned for part in result.generator] == [32, 32, 0][:rooms] + [0] * (3 - rooms)


def test_what_a_layer_refuses_is_no_loss_for_receivers_in_other_processes(conversing):
    server = conversing(full=4)
    talk = {"receivers": 5, "connections": 1, "processes": 2}
    result = get("openloop").run(server.load("broadcast", rate=40, duration_s=1, **talk))
    assert (result.planned, result.ok, result.errors) == (40, 30, {"status": 10})
    assert counts(result.deliveries) == (150, 150, 0, 0, 0)
    assert (result.deliveries.messages, result.deliveries.whole) == (30, 30)


def test_the_last_receiver_may_be_in_another_process(conversing):
    server = conversing(late=8)  # of each second message, one of four deliveries, by 600 ms
    result = get("openloop").run(
        server.load("broadcast", receivers=4, rate=20, duration_s=1, connections=1, processes=2)
    )
    found = result.deliveries
    assert (found.expected, found.missing, found.messages, found.whole) == (80, 0, 20, 20)
    assert Histogram.decode(result.histograms["last"]).over(599_000) == 10
    assert found.last_ms["max"] == found.lag_ms["max"] >= 600


@pytest.mark.exhaustive
@pytest.mark.parametrize(("takes_ms", "falls_behind"), [(10, True), (1, False)])
def test_deliveries_to_several_processes_that_fall_behind_are_seen(conversing, takes_ms, falls_behind):
    server = conversing(queue=takes_ms)  # of 240 a second, each takes so long
    talk = {"receivers": 6, "connections": 1, "processes": 2, "timeout_s": 5.0}
    found = get("openloop").run(server.load("broadcast", rate=40, duration_s=1, **talk)).deliveries
    assert (found.expected, found.missing) == (240, 0)
    [grown] = found.backlog
    assert (grown > 40) == (grown > 20) == falls_behind


def test_a_closed_loop_fills_a_room_of_several_processes(conversing):
    talk = {"receivers": 4, "rate": None, "connections": 2, "processes": 2}
    result = get("openloop").run(conversing().load("broadcast", duration_s=0.3, **talk))
    assert result.ok == result.sent == result.deliveries.messages == result.deliveries.whole > 10
    assert counts(result.deliveries) == (4 * result.ok, 4 * result.ok, 0, 0, 0)


def test_what_reaches_a_room_of_another_process_is_astray(conversing):
    server = conversing(stray=10)
    talk = {"receivers": 6, "rooms": 3, "connections": 1, "processes": 3}
    found = get("openloop").run(server.load("broadcast", rate=60, duration_s=0.5, **talk)).deliveries
    assert (counts(found), found.stray) == ((60, 60, 0, 0, 0), 3 * 4)


def test_a_message_that_nobody_says_is_taken_is_missing_where_it_does_not_come(measured, conversing):
    server = conversing(close=10)
    result = measured(server.load("broadcast", receivers=4, rate=50, duration_s=1, connections=1))
    assert (result.planned, result.ok, result.errors) == (50, 45, {"reset": 5})
    assert (result.deliveries.expected, result.deliveries.missing) == (200, 20)
