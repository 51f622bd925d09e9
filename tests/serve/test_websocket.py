"""Test the check of the WebSocket contract, with simulated servers."""

import contextlib
import socket
import threading
from types import SimpleNamespace

import pytest
from websockets.frames import Opcode

from loadtests.serve import websocket
from loadtests.serve.dialects import DIALECTS
from loadtests.serve.websocket import outcome, verified
from loadtests.serve.websocket_cases import CASES
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient

NOBODY = SimpleNamespace(url="http://127.0.0.1:1")  # listens there
ECHO = Handshake("/ws/echo/", "http://localhost")


@pytest.fixture
def raw():
    """Return a function that starts a server, which answers one handshake with these bytes and disconnects.

    The function returns the address, and the list of received bytes.
    """
    with contextlib.ExitStack() as stack:

        def start(answer):
            listener, sent = stack.enter_context(socket.create_server(("127.0.0.1", 0))), []

            def run():
                connection, _ = listener.accept()
                with connection:
                    sent.append(connection.recv(65536))
                    connection.sendall(answer)

            thread = threading.Thread(target=run)
            thread.start()
            stack.callback(thread.join)
            return f"http://127.0.0.1:{listener.getsockname()[1]}", sent

        yield start


@pytest.mark.servers
@pytest.mark.parametrize("dialect", ["plain", "json", "action-cable", "socket.io"])
def test_correct_server_passes(conversing, dialect):
    assert verified(conversing(dialect), dialect) == []


ROOM = "/ws/rooms/contract/"


@pytest.mark.servers
@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ({"drop": 1}, ["/ws/echo/: the echo did not arrive within 0.5 s", f"{ROOM}: a delivery did not arrive"]),
        ({"twice": 1}, [f"{ROOM}: a delivery is wrong: 'contract:1:'"]),
        ({"full": 1}, [f"{ROOM}: the answer to a publish is wrong: 'full'"]),
        ({"stray": 1}, [f"{ROOM}: a delivery in another room is wrong: 'contract:1:'"]),
        ({"dialect": "json"}, [f"{ROOM}: the first message of a room is '\"joined\"' instead of 'joined'"]),
        ({"refuse": 1}, ["/ws/echo/: refused with 503", f"{ROOM}: refused with 503"]),
    ],
)
def test_failing_case_is_reported(conversing, monkeypatch, faults, says):
    if "drop" in faults:
        monkeypatch.setattr(websocket, "WITHIN_S", 0.5)
    found = verified(conversing(**faults), "plain")
    assert [sentence[: len(begin)] for sentence, begin in zip(found, says, strict=True)] == says


def test_closed_port_is_an_error():
    found = verified(NOBODY, "plain")
    assert len(found) == 2
    assert all("refused" in sentence for sentence in found)


@pytest.mark.servers
def test_difference_shows_expected_answer(conversing, monkeypatch):
    monkeypatch.setattr(websocket, "CASE_WITHIN_S", 0.3)
    cases = {case.name: case for case in CASES}
    assert outcome(conversing(mangle=1), DIALECTS["plain"], cases["text, 65,536 bytes"]) == "something else"
    assert outcome(NOBODY, DIALECTS["plain"], cases["ping"]).startswith("not opened: ")


@pytest.mark.servers
def test_fragmented_message_is_received_before_close(conversing):
    with WebsocketClient(conversing(breaks="fragments").url, ECHO) as client:
        client.send_text("hello")
        assert client.next() == (Opcode.TEXT, b"hello")
    with WebsocketClient(conversing(close=1).url, ECHO) as client:
        client.send_text("hello")
        with pytest.raises(ConnectionEnded) as ended:
            client.next()
    assert ended.value.code == 1011


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", 403),
        (b"", None),
        (b"nonsense\r\n\r\n", None),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n", 101),
    ],
)
def test_invalid_handshake_is_refused(raw, answer, status):
    with pytest.raises(Refused) as refused:
        WebsocketClient(raw(answer)[0], ECHO)
    assert refused.value.status == status


def test_custom_headers_replace_defaults(raw):
    url, sent = raw(b"")
    headers = (("host", "chat.example"), ("Origin", "http://elsewhere.example"))
    with pytest.raises(Refused):
        WebsocketClient(url, Handshake("/ws/echo/", url, headers=headers))
    lines = sent[0].decode().lower().splitlines()
    assert sorted(line for line in lines if line.startswith(("host", "origin"))) == [
        "host: chat.example",
        "origin: http://elsewhere.example",
    ]
