"""Test single requests to servers that misbehave."""

import contextlib
import http.client
import itertools
import socket
import threading

import pytest

from loadtests.serve import http as client
from loadtests.serve import signed_in
from loadtests.serve.http import ask
from loadtests.setups.application import sample
from loadtests.workload import Request, SignIn

GET = Request("page", path="/")
ENDLESS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"
HUGE = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536
DRIP_IN_BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", b"x"
DRIP_IN_HEADERS = b"HTTP/1.1 200 OK\r\nX: ", b"x"


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
@pytest.mark.parametrize("answer", [DRIP_IN_BODY, DRIP_IN_HEADERS], ids=["body", "headers"])
def test_slow_answer_meets_the_deadline(server, answer):
    with pytest.raises(TimeoutError):
        ask(*server(*answer), GET, 5.0)


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


def test_answer_is_read_until_close(server):
    answer = ask(*server(b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 300_000, b""), GET, 5.0)
    assert (answer.status, len(answer.body)) == (200, 300_000)


def test_sign_in_refuses_a_long_page(server, monkeypatch):
    monkeypatch.setenv("JOURNEY_PASSWORD", "x")
    with pytest.raises(signed_in.NotSignedIn, match="longer than 64 MiB"):
        signed_in.cookies("http://{}:{}".format(*server(*ENDLESS)), SignIn("/login/", "ada"), sample())
