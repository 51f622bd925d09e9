"""Test the check of a user's WebSockets, in which a message must be delivered."""

import dataclasses
from types import SimpleNamespace

import pytest

from loadtests.serve import scripted
from loadtests.workload import Conversation, Request
from loadtests.workload.script import Script

pytestmark = pytest.mark.servers

CHAT = Script('{"text": "$ID"}', first=('{"join": "$ROOM"}',), ready='"joined"')


@pytest.fixture
def complaints(monkeypatch):
    """Return a function that runs a script against a server's path and returns the problems that the script found.

    An answer must arrive within ``within_s``.
    """

    def complaints(url, path="/ws/chat/", script=CHAT, headers=(), within_s=20.0):
        monkeypatch.setattr(scripted, "WITHIN_S", within_s)
        conversation = Conversation("echo", "script", path, script=script)
        return scripted.verified(SimpleNamespace(url=url), Request("GET", path=path, headers=headers), conversation)

    return complaints


def test_delivering_server_passes(complaints, conversing):
    assert complaints(conversing("chat").url) == []
    by_text = dataclasses.replace(CHAT, match='"text": "$ID", "by"')
    assert complaints(conversing("chat").url, script=by_text) == []
    assert (
        complaints(conversing("plain").url, "/ws/echo/$ROOM/", Script("$ID", subprotocols=("chat.v1", "hunter2"))) == []
    )


@pytest.mark.parametrize(
    ("does", "script", "awaited", "came"),
    [
        ({"drop": 1}, CHAT, "no message with 'contract", 's after \'{"text": "$ID"}\' was sent; no message arrived'),
        ({}, dataclasses.replace(CHAT, ready="yes"), "no message with 'yes' within 0.3 s after the handsh", "joined"),
        ({"breaks": "silent"}, CHAT, "the handshake was not answered within 0.3 s", ""),
    ],
)
def test_missing_echo_shows_last_message(complaints, conversing, does, script, awaited, came):
    [sentence] = complaints(conversing("chat", **does).url, script=script, within_s=0.3)
    assert sentence.startswith(f"/ws/chat/: {awaited}")
    assert (" within 0.3 s after " in sentence) == bool(came)
    assert came in sentence


@pytest.mark.parametrize(
    ("does", "script", "says"),
    [
        ({"close": 1}, CHAT, "the server closed the connection (closed with 1011 busy) before a message was delivered"),
        ({"breaks": "subprotocol"}, Script("$ID", subprotocols=("a",)), "the server chose no subprotocol"),
    ],
)
def test_refused_subprotocol_is_reported(complaints, conversing, does, script, says):
    assert complaints(conversing("chat", **does).url, script=script) == [f"/ws/chat/: {says}"]


def test_refused_handshake_has_a_hint(complaints, server, unused_port):
    headers = (("Cookie", "sessionid=hunter2"), ("Host", "chat.example"), ("Origin", "http://chat.example"))
    [sentence] = complaints(server.url, "/status/403", headers=headers)
    assert sentence.startswith("/status/403: the handshake was refused with 403; log users in with --login, or set ")
    assert "the Origin (chat.example, or the host in --host-header)" in sentence
    assert "hunter2" not in sentence
    assert complaints(server.url, "/status/404") == [
        "/status/404: the handshake was refused with 404; check the path of the WebSocket"
    ]
    [sentence] = complaints(f"http://127.0.0.1:{unused_port}")
    assert sentence == "/ws/chat/: the server can't be reached: Connection refused"
