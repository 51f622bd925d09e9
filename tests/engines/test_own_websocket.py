"""The user's own WebSockets: what the command line gives is sent, and messages of others are ignored."""

import dataclasses

import pytest

from loadtests.workload import Conversation, Load, Request
from loadtests.workload.script import Script
from tests.fixtures.websocket_server import counts

pytestmark = pytest.mark.servers

OWN_ROOM = Script(send='{"text": "$ID"}', first=('{"join": "$ROOM"}',), ready='"joined"')
LOBBY = dataclasses.replace(OWN_ROOM, first=('{"join": "lobby"}',))
ACKNOWLEDGED = dataclasses.replace(OWN_ROOM, send='{"text": "$ID", "ack": true}')


def load(server, does, script=OWN_ROOM, *, path="/ws/chat/", receivers=0, rooms=1, **options):
    conversation = Conversation(does, "script", path, receivers=receivers, rooms=rooms, script=script)
    given = {"timeout_s": 30.0, "rate": 50.0, "duration_s": 1.0, **options}
    return Load(server.url, (Request(does, path=path),), protocol="websocket", conversation=conversation, **given)


def test_what_each_says_in_a_room_of_its_own_comes_back(measured, conversing):
    server = conversing("chat", after=50)
    result = measured(load(server, "echo", connections=10))
    assert (result.planned, result.ok, result.errors) == (50, 50, {})
    assert counts(result.deliveries) == (50, 50, 0, 0, 0)
    assert result.response_time_ms["p50"] >= 50
    assert result.connections.opened == 10
    # Each of ten joined, and each of those messages went to itself alone.
    assert server.counts()["messages"] == 10 + 50


def test_what_others_say_in_the_same_room_is_passed_over(measured, conversing):
    result = measured(load(conversing("chat"), "echo", LOBBY, connections=10))
    assert (result.planned, result.ok, result.errors) == (50, 50, {})
    assert counts(result.deliveries) == (50, 50, 0, 0, 0)


def test_what_never_comes_back_and_what_comes_twice_is_counted(measured, conversing):
    result = measured(load(conversing("chat", drop=10), "echo", connections=25, timeout_s=2.0))
    assert (result.ok, counts(result.deliveries)) == (45, (50, 45, 5, 0, 0))
    result = measured(load(conversing("chat", twice=10), "echo", connections=25))
    assert (result.ok, counts(result.deliveries)) == (50, (50, 50, 0, 5, 0))


def test_a_match_says_which_of_two_messages_with_the_id_is_the_delivery(measured, conversing):
    server = conversing("chat", after=100)
    either = measured(load(server, "echo", ACKNOWLEDGED, connections=10))
    assert either.deliveries.duplicate > 0  # the acknowledgement was the first
    for match in ('"text": "$ID"', '"text": "$ID", "by"'):
        result = measured(load(server, "echo", dataclasses.replace(ACKNOWLEDGED, match=match), connections=10))
        assert result.response_time_ms["p50"] >= 100
        assert counts(result.deliveries) == (50, 50, 0, 0, 0)


def test_a_tail_that_does_not_match_is_no_delivery(measured, conversing):
    script = dataclasses.replace(OWN_ROOM, match='"text": "$ID"}')  # where more follows
    result = measured(load(conversing("chat"), "echo", script, connections=10, rate=10.0, timeout_s=1.0))
    assert (result.ok, counts(result.deliveries)) == (0, (10, 0, 10, 0, 0))


def test_a_broadcast_goes_to_all_in_its_room_and_is_taken_when_its_publisher_hears_it(measured, conversing):
    server = conversing("chat", after=50)
    result = measured(load(server, "broadcast", receivers=6, rooms=3, rate=30.0, connections=4))
    assert (result.planned, result.ok, result.errors) == (30, 30, {})
    assert counts(result.deliveries) == (60, 60, 0, 0, 0)
    assert result.response_time_ms["p50"] >= 50
    seen = server.counts()
    assert [seen[f"published in {room}"] for room in range(3)] == [10, 10, 10]


def test_one_is_open_when_it_is_ready(measured, conversing):
    result = measured(load(conversing("chat"), "connect"))
    assert (result.planned, result.ok, result.errors) == (50, 50, {})
    at_once = dataclasses.replace(OWN_ROOM, ready="")
    assert measured(load(conversing("chat"), "connect", at_once)).ok == 50
    never = dataclasses.replace(OWN_ROOM, ready="nobody says this")
    result = measured(load(conversing("chat"), "connect", never, rate=10.0, timeout_s=1.0))
    assert (result.ok, result.unfinished) == (0, 10)


def test_a_room_in_the_path_and_a_subprotocol_are_asked_for(measured, conversing):
    script = Script("$ID", subprotocol="chat.v1")
    result = measured(load(conversing("plain"), "echo", script, path="/ws/echo/$ROOM/", connections=2))
    assert (result.ok, result.errors) == (50, {})
    result = measured(load(conversing("plain", breaks="subprotocol"), "echo", script, path="/ws/echo/", connections=2))
    assert result.ok == 0
    assert "it chose the subprotocol none, and was asked for chat.v1" in result.connections.reason


def test_idle_connections_say_what_is_to_be_said_first(measured, conversing):
    server = conversing("chat")
    result = measured(load(server, "idle", receivers=5, rate=0, duration_s=0.2))
    assert (result.connections.opened, server.counts()["messages"]) == (5, 5)
