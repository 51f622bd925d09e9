"""Test every WebSocket setup whose requirements are installed.

Each setup must follow its protocol in all cases that the measurement needs.
"""

import pytest

from loadtests import setups
from loadtests.measure.websocket_contract import broken_cases
from loadtests.workload import Request
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.served import served

SETUPS = {name: setup for name, setup in setups.known().items() if setup.dialect}
COMMON_SETUPS = ("uvicorn-channels-redis",)


@pytest.fixture(scope="module", params=exhaustive_but(COMMON_SETUPS, SETUPS))
def running(request):
    with served(request.param, WORKERS="2") as up:
        yield up


@pytest.mark.servers
def test_setup_supports_websockets_and_http(running):
    for path in ("/", "/healthz"):
        answer = running.ask(Request(path, path=path), 5)
        assert (answer.status, answer.body) == (200, b"OK")
    assert all(part.charged for part in running.parts())
    asked, broken = broken_cases(running.url, running.setup)
    assert asked >= 5
    assert broken == [], running.logs()
