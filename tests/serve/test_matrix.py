"""Test every HTTP setup on today's stack whose server is installed, with two workers.

Each setup must return the expected answers.
"""

import contextlib
import http.client
import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from loadtests import setups
from tests.fixtures.exhaustive import COMMON_SETUPS, exhaustive_but
from tests.fixtures.served import processes, served

SETUPS = {name: setup for name, setup in setups.known().items() if not setup.dialect and not setup.answers}
REDIS_URL = os.environ.get("REDIS_URL")
BIG = bytes(range(256)) * (4 * 1024 * 4)  # 4 MiB

# The number of each setup's processes with two workers, including masters, routers and layers, but without nginx.
PROCESSES = {
    **dict.fromkeys(("waitress", "daphne"), 2),
    **dict.fromkeys(("gunicorn", "gunicorn-gthread", "gunicorn-gevent", "gunicorn-gevent-unpatched"), 3),
    **dict.fromkeys(("gunicorn-asgi", "gunicorn-uvicorn", "gunicorn-nginx", "granian-wsgi", "granian-asgi"), 3),
    **dict.fromkeys(("caddysnake-wsgi", "caddysnake-asgi", "daphne-ipc"), 3),
    **dict.fromkeys(("uvicorn", "uvicorn-nginx", "hypercorn", "uwsgi", "uwsgi-threads", "uwsgi-gevent"), 4),
    "daphne-redis": 3 + (REDIS_URL is None),
    "gunicorn-rolling": 6,  # two of them
    "mod_wsgi-express": 7,
}


class Client(http.client.HTTPConnection):
    """A persistent connection to a setup."""

    def ask(self, path, method="GET", body=None, headers=()):
        """Return the status and the body of the answer."""
        self.putrequest(method, path)
        for name, value in headers:
            self.putheader(name, value)
        if body is not None:
            self.putheader("Content-Length", str(len(body)))
        self.endheaders(body)
        answer = self.getresponse()
        return answer.status, answer.read()


@pytest.fixture(scope="module", params=exhaustive_but(COMMON_SETUPS, SETUPS))
def running(request):
    with served(request.param, WORKERS="2", THREADS="2", KEEP_ALIVE="60") as up:
        yield up
    assert not up.folder.exists()


@pytest.fixture
def client(running):
    with contextlib.closing(Client(*running.address, timeout=20)) as made:
        yield made


def wait(running):
    with contextlib.closing(Client(*running.address, timeout=20)) as client:
        return client.ask("/wait?ms=50")[0]


@pytest.mark.servers
def test_two_workers_work_concurrently(running):
    assert all(part.charged for part in running.parts())
    # A setup is healthy only if all of its workers run.
    found = [one.name() for one in processes(running) if one.name() != "nginx"]
    assert len(found) == PROCESSES[running.setup.name], found
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(wait, [running] * 8)) == {200}, running.logs()
    # Each process that runs Django counts its requests in a separate file.
    instances = 2 if "rolling" in running.setup.renews else 1
    assert 1 <= len(list(running.folder.glob("requests-*"))) <= 2 * instances


@pytest.mark.servers
def test_connection_stays_open_if_supported(running, client):
    addresses = set()
    for _ in range(3):
        assert client.ask("/") == (200, b"OK")
        addresses.add(client.sock and client.sock.getsockname())  # sock is None if the answer closed the connection
        time.sleep(0.1)
    # With several threads, Gunicorn uses another kind of worker, which supports keep-alive.
    assert (len(addresses) == 1) == (running.setup.name == "gunicorn" or "keep-alive" not in running.setup.cannot)


@pytest.mark.servers
def test_head_has_no_body_if_supported(running):
    with socket.create_connection(running.address, timeout=20) as client:
        client.sendall(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = client.recv(65536)
        client.settimeout(0.2)
        with contextlib.suppress(TimeoutError):
            while more := client.recv(65536):
                answer += more
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"OK" if "head" in running.setup.cannot else b"\r\n\r\n")


@pytest.mark.servers
def test_requests_reach_django_completely(client):
    assert client.ask("/echo", "POST", BIG) == (200, BIG)
    assert client.ask("/echo", "POST", b"") == (200, b"")
    assert client.ask("/stream/?chunks=20&size=100000") == (200, b"".join(b"%d" % (n % 10) * 100000 for n in range(20)))
    tomorrow = (("If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"),)
    assert client.ask("/static/small.css", headers=tomorrow) == (304, b"")
    given = (("X-Repeated", "one"), ("X-Repeated", "two"), ("Cookie", "a=1"), ("Accept", "text/x"))
    status, body = client.ask("/inspect/a%2Fb/c%20d/%25/caf%C3%A9?a=%2F&a=2", headers=given)
    found = json.loads(body)
    assert (status, found["path_rest"], found["parameters"]) == (200, "a/b/c d/%/café", {"a": ["/", "2"]})
    # RFC 9110, section 5.3: repeated headers are joined with a comma. The space after the comma depends on the server.
    assert [value.strip() for value in found["headers"]["X-Repeated"].split(",")] == ["one", "two"]
    assert (found["headers"]["Cookie"], found["headers"]["Accept"]) == ("a=1", "text/x")


@pytest.mark.servers
def test_requests_are_not_logged(running, client):
    for _ in range(5):
        client.ask("/inspect/?marked")
    assert "marked" not in running.logs()
