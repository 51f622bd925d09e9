"""Test that the deliveries to all receivers are counted, with a known server and one or several load processes."""

import dataclasses

import pytest

from loadtests.engines import get
from loadtests.records.histogram import decoded
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.websocket_server import DIALECTS, OWN_ROOM, counts

pytestmark = pytest.mark.servers

MISTREATED = {"drop": 50, "twice": 40, "swap": 30, "late": 70, "astray": 20, "instead": 60}
RATE, SECONDS, CONNECTIONS = 200, 1.5, 20
PLANNED = 300


def as_it_was_served(deliveries, served):
    """Check that the counted deliveries match the server's counts of its messages, and return the counts."""
    delivered = served["in order"] + served["overtaken"]
    missing = deliveries.expected - delivered
    truth = (deliveries.expected, delivered, missing, served["repeated"], served["overtaken"])
    assert min(*truth, served["astray"]) > 0
    assert (counts(deliveries), deliveries.stray) == (truth, served["astray"])
    return truth


@pytest.mark.parametrize("dialect", exhaustive_but(("plain",), [*DIALECTS, "chat"]))
def test_echoes_are_counted_exactly(measured, conversing, dialect):
    server = conversing(dialect, after=50, **MISTREATED)
    load = server.load("echo", rate=RATE, duration_s=SECONDS, connections=CONNECTIONS, timeout_s=10.0, grace_s=1.5)
    result = measured(load)
    assert (result.planned, result.sent, result.waited) == (PLANNED, PLANNED, 0)
    expected, delivered, missing, *_ = as_it_was_served(result.deliveries, server.counts())
    assert (expected, result.ok, result.completed) == (PLANNED, delivered, delivered)
    assert (result.errors, result.unfinished) == ({}, missing)
    assert result.contradicting == result.deliveries.stray
    assert 50 <= result.service_time_ms["p50"] <= result.response_time_ms["p50"]
    assert result.deliveries.lag_ms["p50"] >= 50
    found = result.connections
    assert (found.requested, found.opened, found.refused, found.lost, found.reason) == (20, 20, 0, 0, "")
    assert 0 < found.opening_ms["p50"] <= 1000 * found.opened_in_s
    assert server.counts()["handshakes"] == 20


@pytest.mark.parametrize("dialect", exhaustive_but(("socket.io",), DIALECTS))
def test_deliveries_are_counted_exactly(measured, conversing, dialect):
    server = conversing(dialect, after=50, **MISTREATED)
    result = measured(server.load("broadcast", receivers=12, rooms=4, rate=RATE, duration_s=SECONDS, connections=5))
    assert (result.planned, result.sent, result.ok, result.errors) == (PLANNED, PLANNED, PLANNED, {})
    counted = server.counts()
    expected, *_ = as_it_was_served(result.deliveries, counted)
    assert expected == 3 * PLANNED
    assert result.deliveries.lag_ms["p50"] >= 50
    assert result.response_time_ms["p50"] < result.deliveries.lag_ms["p50"]  # the server only delays deliveries
    assert [counted[f"published in {room}"] for room in range(4)] == [PLANNED // 4] * 4
    # Each of the five publishers opens a connection for each of the four rooms.
    assert result.connections.requested == result.connections.opened == counted["handshakes"] == 12 + 5 * 4


def test_changed_echo_is_an_error(measured, conversing):
    result = measured(conversing(mangle=10).load("echo", rate=RATE, duration_s=0.5, connections=CONNECTIONS))
    assert (result.planned, result.ok, result.errors) == (100, 90, {"wrong-body": 10})
    assert result.examples == {"wrong-body": "the echo differs from the sent message"}
    assert counts(result.deliveries) == (100, 90, 10, 0, 0)


def test_shared_room_has_no_stray_messages(measured, conversing):
    server = conversing("chat")
    lobby = dataclasses.replace(OWN_ROOM, first=('{"join": "lobby"}',))
    result = measured(server.load("echo", script=lobby, rate=RATE, duration_s=0.5, connections=CONNECTIONS))
    assert (result.ok, counts(result.deliveries)) == (100, (100, 100, 0, 0, 0))
    assert (result.deliveries.stray, result.contradicting) == (None, 0)
    alone = measured(server.load("echo", script=lobby, rate=RATE, duration_s=0.1, connections=1))
    assert (alone.ok, alone.deliveries.stray) == (20, 0)


@pytest.mark.exhaustive
def test_late_duplicates_are_counted(measured, conversing):
    for listens_s, again in ((0.0, 0), (1.0, 1)):
        server = conversing(again=20)  # repeats the last message after all messages have arrived
        result = measured(server.load("echo", rate=RATE, duration_s=0.1, connections=CONNECTIONS, listens_s=listens_s))
        assert (result.ok, result.deliveries.duplicate) == (20, again)


def broadcast(server, **options):
    """Run a broadcast load and return its result."""
    return get("openloop").run(server.load("broadcast", **{"rate": 40, "duration_s": 1, "connections": 1, **options}))


def test_message_refused_by_layer_is_error(conversing):
    result = broadcast(conversing(full=4), receivers=5)
    assert (result.planned, result.ok, result.errors) == (40, 30, {"other": 10})
    assert result.examples == {"other": 'the server answered the published message with "full"'}
    assert counts(result.deliveries) == (200, 150, 50, 0, 0)


@pytest.mark.exhaustive
def test_delivery_to_wrong_room_breaks_contract(conversing):
    result = broadcast(conversing(stray=10), receivers=6, rooms=3, rate=60, duration_s=0.5, processes=3)
    assert counts(result.deliveries) == (60, 60, 0, 0, 0)
    assert (result.deliveries.stray, result.contradicting) == (3 * 4, 3 * 4)
    assert (result.deliveries.messages, result.deliveries.whole) == (30, 30)
    assert result.examples == {"wrong-body": "12 messages reached the wrong connections"}


@pytest.mark.exhaustive
def test_misdirected_chat_message_is_stray(conversing):
    server = conversing("chat", astray=10)  # publishers in the room also receive the messages
    result = broadcast(server, receivers=12, rooms=4, rate=RATE, duration_s=0.5, connections=2)
    assert (result.planned, result.ok, counts(result.deliveries)) == (100, 100, (300, 300, 0, 0, 0))
    assert result.deliveries.stray == server.counts()["astray"] == 10 * (3 + 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("rooms", "planned"),
    [
        (4, [80, 40, 40]),  # the first room has four receivers, and the other rooms have three
        (1, [40, 0, 0]),  # a room is in one process
    ],
)
def test_process_count_does_not_change_results(conversing, rooms, planned):
    server = conversing(drop=40)
    talk = {"receivers": 13, "rooms": rooms, "connections": 2, "processes": len(planned)}
    result = broadcast(server, rate=50 * rooms, duration_s=0.8, **talk)
    sent, received = 40 * rooms, 40 * 13
    assert (result.planned, result.sent, result.ok) == (sent, sent, sent)
    assert counts(result.deliveries) == (received, received - 13, 13, 0, 0)
    assert (result.deliveries.messages, result.deliveries.whole, result.deliveries.stray) == (sent, sent - 13, 0)
    assert decoded(result.histograms["last"]).total == sent - 13
    assert result.connections.opened == result.connections.requested == 13 + 2 * rooms
    assert [part.planned for part in result.generator] == planned


def test_unconfirmed_messages_are_missing(conversing):
    result = broadcast(conversing(close=10), receivers=4, rate=50)
    assert (result.planned, result.ok, result.errors) == (50, 45, {"reset": 5})
    assert (result.deliveries.expected, result.deliveries.missing) == (200, 20)
