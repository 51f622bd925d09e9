"""The contract's WebSocket client: what it sends, byte by byte, and what it makes of what comes back."""

import contextlib
import socket
import threading

import pytest

from loadtests.serve.frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Client,
    ConnectionEnded,
    Handshake,
    Refused,
    WireFrame,
    masked,
)

HANDSHAKE = Handshake("/ws/echo/", "http://localhost")
ANSWER = "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n{}\r\n"


def accepting(key):
    """What RFC 6455, section 1.3, has a server answer; its example is a test of it."""
    import base64
    import hashlib

    return base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()


def of_server(opcode, payload=b"", **more):
    return WireFrame(opcode, payload, masked=False, **more).to_bytes()


@pytest.fixture
def server():
    """A function: a server that answers one handshake with ``answer`` (by default as it should), sends ``data`` and
    hangs up; its URL, and a list that gets what the client sent."""
    with contextlib.ExitStack() as stack:

        def serve(data=b"", answer=None, more=""):
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            received = []

            def run():
                connection, _ = listener.accept()
                with connection:
                    asked = b""
                    while not asked.endswith(b"\r\n\r\n"):
                        asked += connection.recv(65536)
                    received.append(asked.decode())
                    key = next(
                        line[19:] for line in asked.decode().split("\r\n") if line.startswith("Sec-WebSocket-Key")
                    )
                    given = answer if answer is not None else ANSWER.format(accepting(key), more)
                    connection.sendall(given.encode() + data)
                    connection.shutdown(socket.SHUT_WR)
                    while part := connection.recv(65536):
                        received.append(part)

            thread = threading.Thread(target=run)
            thread.start()
            stack.callback(thread.join)
            return f"http://127.0.0.1:{listener.getsockname()[1]}", received

        yield serve


def test_the_rfc_s_example_of_a_key_is_answered_as_it_says():
    assert accepting("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_the_rfc_s_example_of_a_masked_frame():
    key = bytes.fromhex("37fa213d")
    assert masked(b"Hello", key) == bytes.fromhex("7f9f4d5158")
    assert masked(masked(b"Hello", key), key) == b"Hello"
    sent = WireFrame(TEXT, b"Hello").to_bytes()
    assert (sent[:2], masked(sent[6:], sent[2:6])) == (bytes.fromhex("8185"), b"Hello")


@pytest.mark.parametrize(
    ("frame", "head"),
    [
        (WireFrame(TEXT, b"Hello", masked=False), "8105"),
        (WireFrame(TEXT, b"Hel", fin=False, masked=False), "0103"),
        (WireFrame(CONTINUATION, b"lo", masked=False), "8002"),
        (WireFrame(BINARY, bytes(256), masked=False), "827e0100"),
        (WireFrame(BINARY, bytes(65536), masked=False), "827f0000000000010000"),
        (WireFrame(PING, b"Hello", rsv=4, masked=False), "c905"),
    ],
)
def test_heads_of_frames_as_in_section_5_7(frame, head):
    assert frame.to_bytes() == bytes.fromhex(head) + frame.payload


def test_messages_are_put_together_and_pings_answered(server):
    data = of_server(TEXT, b"Hel", fin=False) + of_server(PING, b"you") + of_server(CONTINUATION, b"lo")
    data += of_server(PONG, b"me") + of_server(BINARY, bytes(70_000)) + of_server(CLOSE, b"\x03\xe8bye")
    url, received = server(data, more="Sec-WebSocket-Protocol: echo\r\n")
    with Client(url, HANDSHAKE) as client:
        assert client.subprotocol == "echo"
        assert [client.next() for _ in range(3)] == [(TEXT, b"Hello"), (PONG, b"me"), (BINARY, bytes(70_000))]
        with pytest.raises(ConnectionEnded) as ended:
            client.next()
        assert (ended.value.code, ended.value.reason) == (1000, "bye")
    assert received[0].startswith("GET /ws/echo/ HTTP/1.1\r\n")
    assert "Origin: http://localhost\r\n" in received[0]


def test_a_connection_that_ends_without_a_word_is_told_from_one_that_is_closed(server):
    url, _ = server()
    with Client(url, HANDSHAKE) as client, pytest.raises(ConnectionEnded) as ended:
        client.next()
    assert ended.value.code is None
    url, _ = server(of_server(CLOSE))
    with Client(url, HANDSHAKE) as client, pytest.raises(ConnectionEnded) as ended:
        client.next()
    assert ended.value.code == 1005


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", 403),
        ("", None),
        ("nonsense\r\n\r\n", None),
        (ANSWER.format("the wrong one", ""), 101),
    ],
)
def test_what_is_no_handshake_is_refused(server, answer, status):
    url, _ = server(answer=answer)
    with pytest.raises(Refused) as refused:
        Client(url, HANDSHAKE)
    assert refused.value.status == status


def test_a_handshake_can_be_wrong_in_every_way():
    asked = Handshake(
        "/", subprotocols=("a", "b"), headers=(("Sec-WebSocket-Version", "8"),), without=("Upgrade",), method="POST"
    ).to_bytes("here", "key")
    lines = asked.decode().split("\r\n")
    assert lines[0] == "POST / HTTP/1.1"
    assert {"Sec-WebSocket-Protocol: a, b", "Sec-WebSocket-Version: 8"} < set(lines)
    assert not any(line.startswith(("Upgrade", "Origin", "Sec-WebSocket-Version: 13")) for line in lines)
