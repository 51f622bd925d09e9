"""Test every WebSocket setup whose requirements are installed.

Each setup must follow its protocol in all cases that the measurement needs.
"""

import dataclasses
import os

import pytest

from loadtests import setups
from loadtests.serve.dialects import DIALECTS, handshake
from loadtests.serve.websocket import PREFIX, broken_cases
from loadtests.serve.websocket_client import Refused, WebsocketClient
from loadtests.workload import Request
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.served import processes, served

SETUPS = {name: setup for name, setup in setups.known().items() if setup.dialect}
COMMON_SETUPS = ("daphne-channels", "uvicorn-channels-ipc", "uvicorn-channels-redis", "uvicorn-websocket", "socketio")

# The number of processes with WORKERS=2. If rooms span processes, there are two workers, their master, and Redis.
# Otherwise, one process answers, and Granian and Hypercorn also have the processes that started this process.
PROCESSES = {
    "uvicorn-channels-ipc": 4,
    "uvicorn-channels-redis": 5,
    "uvicorn-channels-pubsub": 5,
    "socketio-redis": 4,
    "action-cable-redis": 4,
    "granian-channels": 2,
    "granian-websocket": 2,
    "hypercorn-channels": 3,
}


@pytest.fixture(scope="module", params=exhaustive_but(COMMON_SETUPS, SETUPS))
def running(request):
    with served(request.param, WORKERS="2") as up:
        yield up


@pytest.mark.servers
def test_setup_supports_websockets_and_http(running):
    for path in ("/", "/healthz"):
        answer = running.ask(Request(path, path=path), 5)
        assert (answer.status, answer.body) == (200, b"OK")
    less = "REDIS_URL" in os.environ and "redis" in running.setup.services
    assert len(processes(running)) == PROCESSES.get(running.setup.name, 1) - less
    assert all(part.charged for part in running.parts())
    asked, broken = broken_cases(running, running.setup.dialect, running.setup.cannot)
    assert asked >= 12
    assert broken == [], running.logs()


@pytest.mark.servers
def test_refused_compression_is_reported(running):
    opening = handshake(DIALECTS[running.setup.dialect], PREFIX, "echo", running.url)
    offered = (("Sec-WebSocket-Extensions", "permessage-deflate"),)
    try:
        WebsocketClient(running.url, dataclasses.replace(opening, headers=offered)).close()
        agreed = False
    except Refused as refused:
        agreed = refused.status == 101  # the server agreed to a compression that the client doesn't support
    assert ("compression" in running.setup.cannot) != agreed
