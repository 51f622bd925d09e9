"""Test loads on the WebSockets of other projects, with messages in any format."""

import dataclasses

import pytest

from loadtests.workload import Conversation, Load, Request
from loadtests.workload.script import Script
from tests.fixtures.websocket_server import OWN_ROOM, counts

pytestmark = pytest.mark.servers

ACKNOWLEDGED = dataclasses.replace(OWN_ROOM, send='{"text": "$ID", "ack": true}')


def load(server, does, script=OWN_ROOM, **options):
    given = {"connections": 10, "timeout_s": 30.0, "rate": 50.0, "duration_s": 1.0, **options}
    return server.load(does, script=script, **given)


def test_own_message_is_counted_as_echo(measured, conversing):
    server = conversing("chat", after=50)
    result = measured(load(server, "echo"))
    assert (result.planned, result.ok, result.errors) == (50, 50, {})
    assert counts(result.deliveries) == (50, 50, 0, 0, 0)
    assert result.response_time_ms["p50"] >= 50
    assert result.connections.opened == 10
    # Each of the ten connections sent a message to join its own room.
    assert server.counts()["messages"] == 10 + 50


def test_match_pattern_selects_the_delivery(measured, conversing):
    server = conversing("chat", after=100)
    either = measured(load(server, "echo", ACKNOWLEDGED))
    assert either.deliveries.duplicate > 0  # both the acknowledgement and the message match
    for match in ('"text": "$ID"', '"text": "$ID", "by"'):
        result = measured(load(server, "echo", dataclasses.replace(ACKNOWLEDGED, match=match)))
        assert result.response_time_ms["p50"] >= 100
        assert counts(result.deliveries) == (50, 50, 0, 0, 0)
    ending = dataclasses.replace(OWN_ROOM, match='"text": "$ID"}')  # no message ends with this pattern
    result = measured(load(server, "echo", ending, rate=10.0, timeout_s=1.0))
    assert (result.ok, counts(result.deliveries)) == (0, (10, 0, 10, 0, 0))


def test_broadcast_is_confirmed_to_publisher(measured, conversing):
    server = conversing("chat", after=50)
    result = measured(load(server, "broadcast", receivers=6, rooms=3, rate=30.0, connections=4))
    assert (result.planned, result.ok, result.errors) == (30, 30, {})
    assert counts(result.deliveries) == (60, 60, 0, 0, 0)
    assert result.response_time_ms["p50"] >= 50
    seen = server.counts()
    assert [seen[f"published in {room}"] for room in range(3)] == [10, 10, 10]


@pytest.mark.parametrize(
    ("ready", "options", "ok"),
    [('"joined"', {}, 50), ("", {}, 50), ("nobody says this", {"rate": 10.0, "timeout_s": 1.0}, 0)],
)
def test_connection_waits_for_ready_message(measured, conversing, ready, options, ok):
    result = measured(load(conversing("chat"), "connect", dataclasses.replace(OWN_ROOM, ready=ready), **options))
    assert (result.ok, result.errors, result.unfinished) == (ok, {}, result.planned - ok)


def test_path_and_subprotocol_are_supported(measured, conversing):
    conversation = Conversation("echo", "script", "/ws/echo/$ROOM/", script=Script("$ID", subprotocols=("chat.v1",)))
    options = {"protocol": "websocket", "conversation": conversation, "connections": 2, "rate": 50.0, "duration_s": 1.0}
    result = measured(Load(conversing("plain").url, (Request("echo"),), **options))
    assert (result.ok, result.errors) == (50, {})
