"""Every setup for WebSockets that this machine has what it takes for: it answers as its protocol says, and in the cases
of RFC 6455 as the documentation shows."""

import socket

import psutil
import pytest

from loadtests import hosts, setups
from loadtests.application import sample
from loadtests.serve.serving import serving
from loadtests.serve.websocket import CASES, conformity, known
from loadtests.workload import Request

SETUPS = {name: setup for name, setup in setups.known().items() if setup.dialect}


@pytest.fixture(scope="module", params=SETUPS)
def running(request):
    setup = SETUPS[request.param]
    if (missing := setups.missing(setup)) is not None:
        pytest.skip(missing)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(setup, {"WORKERS": "2"}, "127.0.0.1", port, sample(), hosts.at("local")) as served:
        yield served
        started = [one for part in served.parts() for one in psutil.Process(part.pid).children(recursive=True)]
    assert psutil.wait_procs(started, timeout=5)[1] == []


@pytest.mark.servers
def test_it_answers_over_http_that_it_is_well(running):
    for path in ("/", "/healthz"):
        answer = running.ask(Request(path, path=path), 5)
        assert (answer.status, answer.body) == (200, b"OK")


@pytest.mark.servers
@pytest.mark.slow
def test_it_speaks_its_protocol_and_is_as_the_documentation_says(running):
    setup = running.setup
    found = conformity(running, setup.name, setup.dialect, setup.cannot)
    assert list(found.broken) == [], running.logs()
    assert [(one.name, found.outcomes[one.name]) for one in found.unknown] == []


def test_the_documentation_has_every_setup():
    assert set(known()) <= set(SETUPS)
    assert all(set(outcomes) <= set(CASES) for outcomes in known().values())
