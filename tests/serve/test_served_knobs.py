"""Test knobs that change how a setup answers."""

import select
import socket

import pytest

from loadtests.errors import UserError
from tests.fixtures.served import served

pytestmark = pytest.mark.servers

GET = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
WITHOUT_HOST = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"


def requesting(running, request):
    client = socket.create_connection(running.address, 20)
    client.sendall(request)
    return client


def status(client):
    return int(client.makefile("rb").readline().split()[1])


# h11 refuses a request without a Host header, and httptools accepts it. Django would answer 404 for the unknown path.
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("setup", "knobs", "request_line", "expected"),
    [
        ("uvicorn", {}, WITHOUT_HOST, 200),
        ("uvicorn", {"HTTP_PARSER": "python"}, WITHOUT_HOST, 400),
        ("uvicorn", {"APPLICATION": "bare"}, GET % b"unknown", 200),
    ],
)
def test_answer_follows_the_knob(setup, knobs, request_line, expected, own_database):
    with served(setup, **knobs) as running, requesting(running, request_line) as client:
        assert status(client) == expected


@pytest.mark.exhaustive
def test_idle_connection_counts_for_backpressure(own_database):
    with served("granian-wsgi", BACKPRESSURE="1") as running, requesting(running, GET % b"") as idle:
        assert status(idle) == 200
        with requesting(running, GET % b"") as waiting:
            assert select.select([waiting], [], [], 0.5)[0] == []
            idle.shutdown(socket.SHUT_RDWR)
            assert status(waiting) == 200


@pytest.mark.parametrize(("knob", "value"), [("HTTP_PARSER", "python"), ("BACKPRESSURE", "4"), ("TLS", "1")])
def test_setup_without_the_feature_is_refused(knob, value):
    with pytest.raises(UserError, match="waitress: it cannot"), served("waitress", **{knob: value}):
        pass
