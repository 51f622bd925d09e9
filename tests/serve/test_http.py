"""Test single requests to servers that misbehave."""

import contextlib
import http.client
import itertools
import socket
import threading

import pytest

from loadtests.serve import http as client
from loadtests.serve.http import ask
from loadtests.workload import Request

GET = Request("page", path="/")
ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"
HUGE = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536
DRIP_IN_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", b"x"


@pytest.fixture
def server():
    """Return a function that starts a server, which answers with a piece and then repeats another piece endlessly."""
    with contextlib.ExitStack() as stack:

        def start(first, repeated):
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def answer():
                with contextlib.suppress(OSError):
                    while True:
                        connection, _ = listening.accept()
                        with connection, contextlib.suppress(OSError):
                            connection.recv(65536)
                            connection.sendall(first)
                            while repeated:
                                connection.sendall(repeated)

            threading.Thread(target=answer, daemon=True).start()
            return listening.getsockname()

        yield start


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by a second whenever it is read."""
    ticks = itertools.count()
    monkeypatch.setattr(client.time, "monotonic", lambda: float(next(ticks)))


@pytest.mark.parametrize("answer", [ENDLESS, HUGE], ids=["endless", "huge"])
def test_long_answer_is_refused(server, answer):
    with pytest.raises(http.client.HTTPException, match=r"the answer is longer than 64 MiB"):
        ask(*server(*answer), GET, 60.0)


@pytest.mark.usefixtures("clock")
def test_slow_body_meets_the_deadline(server):
    with pytest.raises(TimeoutError):
        ask(*server(*DRIP_IN_BODY), GET, 5.0)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nOK",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nOK",
    ],
)
def test_incomplete_answer_is_an_error(server, answer):
    with pytest.raises(http.client.IncompleteRead):
        ask(*server(answer, b""), GET, 5.0)
