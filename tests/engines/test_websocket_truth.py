"""Over WebSockets, what a server does to each message is counted exactly: what it drops, sends twice, late or out of
order, and what it sends to another, as well or instead, at a rate that does not wait for it."""

import dataclasses

import pytest

from tests.fixtures.websocket_server import DIALECTS, OWN_ROOM, counts

pytestmark = pytest.mark.servers

MISTREATED = {"drop": 50, "twice": 40, "swap": 30, "late": 70, "astray": 20, "instead": 60}
ALL_DIALECTS = [
    "plain",
    *(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("chat", *DIALECTS) if one != "plain"),
]
DELIVERING = [one for one in ALL_DIALECTS if one == "plain" or one.values != ("chat",)]
RATE, SECONDS, CONNECTIONS = 200, 1.5, 20
PLANNED = 300


def as_it_was_served(deliveries, served):
    """Whether deliveries are counted as a server counted what it sent. Returns the counts."""
    delivered = served["in order"] + served["overtaken"]
    missing = deliveries.expected - delivered
    truth = (deliveries.expected, delivered, missing, served["repeated"], served["overtaken"])
    assert min(*truth, served["astray"]) > 0
    assert (counts(deliveries), deliveries.stray) == (truth, served["astray"])
    return truth


@pytest.mark.parametrize("dialect", ALL_DIALECTS)
def test_echoes_are_all_sent_and_counted_exactly_whatever_becomes_of_them(measured, conversing, dialect):
    server = conversing(dialect, **MISTREATED)
    load = server.load("echo", rate=RATE, duration_s=SECONDS, connections=CONNECTIONS, timeout_s=10.0, grace_s=1.0)
    result = measured(load)
    assert (result.planned, result.sent, result.waited) == (PLANNED, PLANNED, 0)
    expected, delivered, missing, *_ = as_it_was_served(result.deliveries, server.counts())
    assert (expected, result.ok, result.errors, result.unfinished) == (PLANNED, delivered, {}, missing)
    assert result.contradicting == result.deliveries.stray


@pytest.mark.parametrize("dialect", DELIVERING)
def test_deliveries_are_counted_exactly_whatever_becomes_of_them(measured, conversing, dialect):
    server = conversing(dialect, **MISTREATED)
    load = server.load("broadcast", receivers=12, rooms=4, rate=RATE, duration_s=SECONDS, connections=CONNECTIONS)
    result = measured(load)
    assert (result.planned, result.sent) == (PLANNED, PLANNED)
    expected, *_ = as_it_was_served(result.deliveries, server.counts())
    assert expected == 3 * PLANNED


def test_what_is_said_in_a_chat_and_reaches_another_room_is_stray_wherever_it_is_heard(measured, conversing):
    server = conversing("chat", astray=10)  # also by those who publish there
    result = measured(server.load("broadcast", receivers=12, rooms=4, rate=RATE, duration_s=0.5, connections=2))
    assert (result.planned, result.ok, counts(result.deliveries)) == (100, 100, (300, 300, 0, 0, 0))
    assert result.deliveries.stray == server.counts()["astray"] == 10 * (3 + 2)


def test_two_percent_lost_are_lost_and_hold_up_nothing(measured, conversing):
    server = conversing(drop=50)  # more messages than there are connections
    result = measured(server.load("echo", rate=RATE, duration_s=SECONDS, connections=5, timeout_s=10.0, grace_s=0.5))
    assert (result.planned, result.sent, result.ok, result.waited) == (PLANNED, PLANNED, PLANNED - 6, 0)
    assert counts(result.deliveries) == (PLANNED, PLANNED - 6, 6, 0, 0)


def test_a_closed_loop_has_one_message_at_a_time_on_each_connection(measured, conversing):
    server = conversing(swap=7)  # what is held waits for the next one on its connection, which is never sent
    result = measured(server.load("echo", connections=5, duration_s=0.3, timeout_s=0.5))
    assert result.deliveries.reordered == 0
    assert result.sent == result.ok + 5


def test_an_echo_as_another_kind_of_frame_is_wrong(measured, conversing):
    server = conversing(binary=10)
    result = measured(server.load("echo", rate=RATE, duration_s=0.5, connections=CONNECTIONS, timeout_s=0.5))
    assert (result.planned, result.ok, result.errors) == (100, 90, {"wrong-body": 10})
    assert counts(result.deliveries) == (100, 90, 10, 0, 0)


def test_what_comes_to_somebody_else_in_a_room_for_all_may_be_meant_to(measured, conversing):
    server = conversing("chat")
    lobby = dataclasses.replace(OWN_ROOM, first=('{"join": "lobby"}',))
    result = measured(server.load("echo", script=lobby, rate=RATE, duration_s=0.5, connections=CONNECTIONS))
    assert (result.ok, result.deliveries.stray, result.contradicting) == (100, None, 0)
    alone = measured(server.load("echo", script=lobby, rate=RATE, duration_s=0.1, connections=1))
    assert (alone.ok, alone.deliveries.stray) == (20, 0)


def test_what_comes_again_or_astray_after_the_end_is_counted_for_as_long_as_it_is_listened_to(measured, conversing):
    for listens_s, again in ((0.0, 0), (1.0, 1)):
        server = conversing(again=20)  # the last of them, when all has come
        result = measured(server.load("echo", rate=RATE, duration_s=0.1, connections=CONNECTIONS, listens_s=listens_s))
        assert (result.ok, result.deliveries.duplicate) == (20, again)
