"""Test that HTTP_PARSER selects the parser of servers with two parsers."""

import socket

import pytest

from loadtests.errors import UserError
from tests.fixtures.served import served

pytestmark = pytest.mark.servers

WITHOUT_HOST = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"


def status_without_host(**knobs):
    """Return the status of an answer to a request without a Host header, which h11 refuses and httptools accepts."""
    with served("uvicorn", **knobs) as running, socket.create_connection(running.address, 5) as client:
        client.sendall(WITHOUT_HOST)
        return int(client.makefile("rb").readline().split()[1])


def test_uvicorn_uses_the_chosen_parser(own_database):
    assert [status_without_host(), status_without_host(HTTP_PARSER="python")] == [200, 400]


def test_setup_with_one_parser_is_refused():
    with (
        pytest.raises(UserError, match="waitress: it cannot use the other HTTP parser"),
        served("waitress", HTTP_PARSER="python"),
    ):
        pass
