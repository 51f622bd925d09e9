"""Test the check of the WebSocket contract, with simulated servers."""

import dataclasses

import pytest

from loadtests.measure import websocket_contract
from loadtests.workload import Conversation, Request
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.websocket_server import DIALECTS, OWN_ROOM

pytestmark = pytest.mark.servers

CHAT = Conversation("broadcast", "script", "/ws/chat/", receivers=3, script=OWN_ROOM)


@pytest.fixture
def broken(monkeypatch):
    """Return a function that checks a server and returns the failures. Messages must arrive within 0.5 s."""

    def broken(url, conversation, path="/ws/", headers=()):
        monkeypatch.setattr(websocket_contract, "WITHIN_S", 0.5)
        return websocket_contract.broken(url, Request("GET", path=path, headers=headers), conversation)

    return broken


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "action-cable"), DIALECTS))
def test_correct_server_passes(conversing, dialect):
    conversation = Conversation("idle", dialect, receivers=10, steps=5)
    assert websocket_contract.broken(conversing(dialect).url, Request("GET", path="/ws/"), conversation) == []


@pytest.mark.parametrize(
    ("does", "echo", "broadcast"),
    [
        ({"drop": 2}, "1 of 2 messages were not answered within 0.5 s", "8 of 16 deliveries are missing"),
        pytest.param(
            {"mangle": 1},
            "the echo differs from the sent message",
            "16 of 16 deliveries are missing",
            marks=pytest.mark.exhaustive,
        ),
        ({"refuse": 1}, "status 503 instead of 101", "status 503 instead of 101"),
        ({"stray": 1}, None, "16 messages reached the wrong connections"),
    ],
)
def test_failures_are_described(broken, conversing, does, echo, broadcast):
    expected = [f"/ws/: {name}: {why}" for name, why in (("echo", echo), ("broadcast", broadcast)) if why]
    assert broken(conversing(**does).url, Conversation("echo")) == expected


@pytest.mark.parametrize(
    ("does", "script", "says"),
    [
        ({}, {}, None),
        ({}, {"match": '"text": "$ID", "by"'}, None),
        ({}, {"ready": "yes"}, 'opening took over 0.5 s; the last message was "{\\"joined\\": '),
        ({"close": 1}, {}, "the server closed the connection with 1011 busy"),
        ({"breaks": "evicted"}, {"subprotocols": ("secret",)}, "the server closed the connection with 4401"),
    ],
)
def test_own_messages_are_checked(broken, conversing, does, script, says):
    conversation = dataclasses.replace(CHAT, script=dataclasses.replace(OWN_ROOM, **script))
    found = broken(conversing("chat", **does).url, conversation, "/ws/chat/")
    assert [one[: len(f"/ws/chat/: echo: {says}")] for one in found] == ([f"/ws/chat/: echo: {says}"] if says else [])


@pytest.mark.exhaustive
def test_refused_handshake_has_a_hint(broken, server, unused_port):
    headers = (("Cookie", "sessionid=hunter2"), ("Host", "chat.example"))
    conversation = dataclasses.replace(CHAT, prefix="/status/403")
    [sentence] = broken(server.url, conversation, "/status/403", headers)
    assert sentence.startswith("/status/403: echo: status 403 instead of 101; log users in with --login, or set ")
    assert "hunter2" not in sentence
    [sentence] = broken(f"http://127.0.0.1:{unused_port}", CHAT)
    assert "ECONNREFUSED" in sentence
