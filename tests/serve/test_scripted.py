"""What a project of the user's is held to over its WebSockets: one message must be seen delivered."""

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
    """A function: what is said of a server, at a path and in a script."""
    monkeypatch.setattr(scripted, "WITHIN_S", 0.3)

    def complaints(url, path="/ws/chat/", script=CHAT, headers=()):
        conversation = Conversation("echo", "script", path, script=script)
        return scripted.verified(SimpleNamespace(url=url), Request("GET", path=path, headers=headers), conversation)

    return complaints


@pytest.fixture
def patient(monkeypatch, complaints):
    """The same, where an answer is awaited: nothing is judged by how long it takes."""
    monkeypatch.setattr(scripted, "WITHIN_S", 20.0)
    return complaints


def test_one_that_delivers_is_as_it_should_be(patient, conversing):
    assert patient(conversing("chat").url) == []
    by_text = dataclasses.replace(CHAT, match='"text": "$ID", "by"')
    assert patient(conversing("chat").url, script=by_text) == []
    assert patient(conversing("plain").url, "/ws/echo/$ROOM/", Script("$ID", subprotocol="chat.v1")) == []


def test_one_that_never_echoes_is_reported_with_what_came_instead(complaints, conversing):
    [sentence] = complaints(conversing("chat", drop=1).url)
    assert sentence.startswith('/ws/chat/: \'{"text": "$ID"}\' was sent, and no message with \'contract')
    assert "in it came within 0.3 s" in sentence
    [sentence] = complaints(conversing("chat").url, script=dataclasses.replace(CHAT, ready='"at last"'))
    assert "it was opened, and no message with '\"at last\"' in it came within 0.3 s; what came last was" in sentence
    assert '"joined"' in sentence
    [sentence] = complaints(conversing("plain", drop=1).url, "/ws/echo/", Script("$ID"))
    assert sentence.endswith("; nothing came")


def test_one_that_closes_is_reported_with_its_code(patient, conversing):
    [sentence] = patient(conversing("chat", close=1).url)
    assert (
        sentence == "/ws/chat/: the server closed the connection (closed with 1011 busy) before a message was delivered"
    )


def test_one_that_refuses_is_reported_with_what_it_may_want(patient, server, conversing, unused_port):
    headers = (("Cookie", "sessionid=hunter2"), ("Host", "chat.example"), ("Origin", "http://chat.example"))
    [sentence] = patient(server.url, "/status/403", headers=headers)
    assert sentence.startswith(
        "/status/403: the handshake was refused with 403; a cookie or a header that it needs is "
    )
    assert "the Origin (chat.example, or what --host-header names)" in sentence
    assert "hunter2" not in sentence
    [sentence] = patient(server.url, "/status/404")
    assert sentence == "/status/404: the handshake was refused with 404; is it the path of a WebSocket?"
    [sentence] = patient(conversing("chat", breaks="subprotocol").url, script=Script("$ID", subprotocol="chat.v1"))
    assert sentence == "/ws/chat/: it was offered the subprotocol chat.v1 and chose none"
    [sentence] = patient(f"http://127.0.0.1:{unused_port}")
    assert sentence == "/ws/chat/: it cannot be reached: Connection refused"


def test_one_that_does_not_answer_the_handshake_is_reported(complaints, conversing):
    assert complaints(conversing("chat", breaks="silent").url) == [
        "/ws/chat/: the handshake was not answered within 0.3 s"
    ]
