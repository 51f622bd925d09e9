"""Every setup for WebSockets that this machine has what it takes for: it answers as its protocol says, and in every
case that decides whether it can be measured."""

import dataclasses
import os
import socket

import psutil
import pytest

from loadtests import hosts, setups
from loadtests.serve.dialects import DIALECTS, handshake
from loadtests.serve.serving import serving
from loadtests.serve.websocket import PREFIX, broken_cases
from loadtests.serve.websocket_client import Refused, WebsocketClient
from loadtests.setups.application import sample
from loadtests.workload import Request
from tests.fixtures.exhaustive import exhaustive_but

SETUPS = {name: setup for name, setup in setups.known().items() if setup.dialect}
COMMON_SETUPS = ("daphne-channels", "uvicorn-channels-ipc", "uvicorn-channels-redis", "uvicorn-websocket", "socketio")

# With WORKERS=2: where rooms span processes, two of them, who looks after them, and Redis; else one that answers, and
# with Granian and Hypercorn those that started it.
PROCESSES = {
    "uvicorn-channels-ipc": 4,
    "uvicorn-channels-redis": 5,
    "uvicorn-channels-pubsub": 5,
    "socketio-redis": 4,
    "action-cable-redis": 4,
    "granian-channels": 2,
    "hypercorn-channels": 3,
}


@pytest.fixture(scope="module", params=exhaustive_but(COMMON_SETUPS, SETUPS))
def running(request):
    setup = SETUPS[request.param]
    if (missing := setups.missing(setup)) is not None:
        pytest.skip(missing)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(setup, {"WORKERS": "2", "PORT": str(port)}, sample(), hosts.at("local")) as served:
        yield served
        started = [one for part in served.parts() for one in psutil.Process(part.pid).children(recursive=True)]
    assert psutil.wait_procs(started, timeout=5)[1] == []


@pytest.mark.servers
def test_it_answers_over_http_that_it_is_well(running):
    for path in ("/", "/healthz"):
        answer = running.ask(Request(path, path=path), 5)
        assert (answer.status, answer.body) == (200, b"OK")


@pytest.mark.servers
def test_it_has_several_processes_only_where_rooms_span_them(running):
    families = [[psutil.Process(part.pid), *psutil.Process(part.pid).children(True)] for part in running.parts()]
    less = "REDIS_URL" in os.environ and "redis" in running.setup.services
    assert sum(map(len, families)) == PROCESSES.get(running.setup.name, 1) - less
    assert all(part.charged for part in running.parts())


@pytest.mark.servers
def test_it_speaks_its_protocol(running):
    setup = running.setup
    asked, broken = broken_cases(running, setup.dialect, setup.cannot)
    assert asked >= 12
    assert broken == [], running.logs()


@pytest.mark.servers
def test_it_says_so_where_it_agrees_to_no_compression(running):
    opening = handshake(DIALECTS[running.setup.dialect], PREFIX, "echo", running.url)
    offered = (("Sec-WebSocket-Extensions", "permessage-deflate"),)
    try:
        WebsocketClient(running.url, dataclasses.replace(opening, headers=offered)).close()
        agreed = False
    except Refused as refused:
        agreed = refused.status == 101  # to what this client cannot do
    assert ("compression" in running.setup.cannot) != agreed
