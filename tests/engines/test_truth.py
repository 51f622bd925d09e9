"""Test that results of the engine ``openloop`` match the values calculated from the intended send times."""

import signal
import threading
import time

import pytest

from loadtests.engines import get
from loadtests.engines.base import Watch
from loadtests.workload import Load
from tests.fixtures.exhaustive import exhaustive_but

pytestmark = pytest.mark.servers

openloop = get("openloop")


def test_known_service_time_is_measured(measured, server):
    result = measured(Load.of_url(f"{server.url}/after/100", rate=50, duration_s=2))
    assert (result.planned, result.sent, result.completed, result.ok) == (100, 100, 100, 100)
    assert (result.unfinished, result.errors, result.requests, result.deliveries) == (0, {}, (), None)
    assert 100 <= result.service_time_ms["p50"] <= result.response_time_ms["p50"]
    assert result.response_time_ms["p50"] <= result.response_time_ms["p99"] <= result.response_time_ms["max"]
    # The last five of the 100 answers arrive after the end of the schedule. The rate doesn't cover the time before the
    # first answer, which is at least 0.1 s. The lower limit is 1.999 s instead of 2 s, because times are rounded.
    in_time = sum(row.ok for row in result.timeline if row.t < 2)
    assert in_time <= 95
    assert 1.999 - result.response_time_ms["max"] / 1000 <= in_time / result.rate <= 1.9
    assert sum(row.sent for row in result.timeline) == 100
    assert sum(row.ok for row in result.timeline) == 100


def test_waits_for_frozen_server_are_measured(measured, freezing_server):
    # A fifth of the requests is sent while the server is frozen, and waits for 0 to 1,000 ms. The other requests don't
    # wait. So 90% of all requests wait for less than 500 ms, 95% for less than 750 ms, and 99% for less than 950 ms.
    result = measured(Load.of_url(f"{freezing_server.url}/ok", rate=200, duration_s=10))
    assert result.planned == result.ok == 2000
    response = result.response_time_ms
    for figure, least in {"p90": 400, "p95": 650, "p99": 880, "max": 950, "mean": 80}.items():
        assert response[figure] > least  # the figures are higher on a busy machine
    assert response["p50"] < response["p90"]
    assert result.send_lag_ms["p90"] < response["p90"]  # the generator did not freeze


@pytest.mark.exhaustive
def test_frozen_generator_reports_its_delay(server, generators):
    # A quarter of the requests is scheduled while the generator is stopped for a second. 90% of all requests are late
    # by less than 600 ms, and 99% by less than 960 ms. The server is always fast.
    seen = threading.Event()
    results = []
    load = Load.of_url(f"{server.url}/ok", rate=100, duration_s=4)
    before = set(generators())  # the shared server is also a child process
    thread = threading.Thread(target=lambda: results.append(openloop.run(load, Watch(lambda row: seen.set()))))
    thread.start()
    assert seen.wait(30)
    [generator] = set(generators()) - before
    generator.send_signal(signal.SIGSTOP)
    time.sleep(1)
    generator.send_signal(signal.SIGCONT)
    thread.join()
    [result] = results
    assert result.planned == result.sent == result.ok == 400
    for late in (result.response_time_ms, result.send_lag_ms, result.pacing_lag_ms):
        for figure, least in {"p90": 450, "p99": 880, "max": 950}.items():
            assert late[figure] > least
    assert result.service_time_ms["p90"] < result.response_time_ms["p90"]


def test_response_time_includes_connection_wait(measured, server):
    # The connection can only transmit ten requests of 100 ms per second, but 20 requests per second are scheduled. So
    # the last of the 40 requests waits for 2 s.
    result = measured(Load.of_url(f"{server.url}/after/100", rate=20, duration_s=2, connections=1, timeout_s=20))
    assert result.planned == result.ok == 40
    assert result.waited >= 38
    assert result.service_time_ms["p50"] >= 100
    assert result.response_time_ms["max"] > 1900
    assert result.send_lag_ms["max"] > 1800
    assert result.pacing_lag_ms["p50"] < result.send_lag_ms["p50"]  # the generator was on time
    assert sum(row.ok for row in result.timeline if row.t < 2) <= 20
    assert result.backlog[0] > 5


@pytest.mark.parametrize(
    ("path", "kind", "answered"),
    [
        ("status/503", "status", True),
        ("ok", "wrong-body", True),
        ("reset", "reset", False),
        ("cut", "reset", False),
        (None, "refused", False),
    ],
)
@pytest.mark.parametrize("rate", exhaustive_but((50,), [50, None]))
def test_errors_have_kinds_but_no_times(measured, server, unused_port, path, kind, answered, rate):
    url = f"{server.url}/{path}" if path else f"http://127.0.0.1:{unused_port}/"
    result = measured(Load.of_url(url, rate=rate, duration_s=0.5, connections=4, bodies=(b"KO",)))
    assert result.errors == {kind: result.planned}
    assert result.planned == result.sent > 0
    assert result.completed == (result.planned if answered else 0)
    assert (result.ok, result.rate) == (0, 0)
    assert result.response_time_ms["p50"] is None
    assert kind in result.examples


@pytest.mark.parametrize("rate", exhaustive_but((100,), [100, None]))
@pytest.mark.parametrize(("path", "keep_alive"), [("closing", True), ("ok", False)])
def test_closed_connections_are_not_errors(measured, server, path, keep_alive, rate):
    url = f"{server.url}/{path}"
    result = measured(Load.of_url(url, rate=rate, duration_s=0.5, connections=4, keep_alive=keep_alive))
    assert (result.ok, result.errors) == (result.planned, {})
    assert server.opened() >= result.ok > 20


def test_closed_loop_sends_after_each_answer(measured, server):
    result = measured(Load.of_url(f"{server.url}/after/100", connections=5, duration_s=2))
    assert result.planned == result.sent == result.ok
    assert (result.errors, result.unfinished) == ({}, 0)
    assert 5 < result.ok <= 100  # 5 connections × 10 requests per second × 2 s
    assert result.response_time_ms["p50"] >= 100
    assert result.response_time_ms == result.service_time_ms
    assert (result.send_lag_ms["max"], result.send_lag_ms["mean"]) == (0, 0)
