"""Test a front and workers in separate processes, with both layers."""

import contextlib
import http.client
import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.served import served
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module", params=exhaustive_but(("daphne-ipc",), ["daphne-redis", "daphne-ipc"]))
def running(request):
    with served(request.param, WORKERS="3") as up:
        yield up


def connect(running):
    return contextlib.closing(http.client.HTTPConnection(*running.address, timeout=40))


def statuses(running, count):
    """Send a number of requests over one connection, and return the pids in the answers."""
    found = Counter()
    with connect(running) as connection:
        for _ in range(count):
            connection.request("GET", "/")
            response = connection.getresponse()
            response.read()
            found[response.status] += 1
    return found


def handled(running):
    """Return how many requests each worker started, by pid, including workers that ended (endpoints.counting)."""
    files = running.folder.glob("requests-*")
    return Counter(
        {int(one.name.removeprefix("requests-")): int.from_bytes(one.read_bytes()[:8], "little") for one in files}
    )


@contextlib.contextmanager
def in_hand(running, milliseconds):
    """Send a request that lasts for this duration. Yield the connection and the pid of the worker."""
    before = handled(running)
    with connect(running) as connection:
        connection.request("GET", f"/wait?ms={milliseconds}")
        [worker] = wait_for(lambda: handled(running) - before)
        yield connection, worker


def workers(running):
    return {part.pid for part in running.parts() if part.role.startswith("worker")}


def test_concurrent_requests_are_handled_once_each(running):
    before = handled(running).total()
    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(statuses, [running] * 10, [40] * 10), Counter()) == {200: 400}
    assert handled(running).total() - before == 400


def test_killed_worker_loses_one_request(running):
    before = handled(running).total()
    with in_hand(running, 10_000) as (_, victim):
        os.kill(victim, signal.SIGKILL)
        assert statuses(running, 50) == {200: 50}
    wait_for(lambda: len(workers(running) - {victim}) == 3)
    assert statuses(running, 50) == {200: 50}
    assert handled(running).total() - before == 101


def test_sigterm_lets_a_worker_finish(running):
    with in_hand(running, 1000) as (connection, worker):
        os.kill(worker, signal.SIGTERM)
        assert connection.getresponse().status == 200
    wait_for(lambda: not psutil.pid_exists(worker))
    assert "Traceback" not in running.logs()
