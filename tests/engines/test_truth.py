"""What openloop reports is what arithmetic predicts from the intended send."""

import signal
import threading
import time

import pytest

from loadtests.engines import get
from loadtests.records.histogram import Histogram
from loadtests.workload import Load, Request

pytestmark = pytest.mark.servers

openloop = get("openloop")


def planned_by_end(result):
    return result.ok + sum(result.errors.values()) + result.unfinished


def test_a_known_service_time_is_reported(measured, server):
    result = measured(Load.of_url(f"{server.url}/after/100", rate=50, duration_s=2))
    assert (result.planned, result.sent, result.completed, result.ok) == (100, 100, 100, 100)
    assert (result.unfinished, result.errors) == (0, {})
    assert 100 <= result.service_time_ms["p50"] <= result.response_time_ms["p50"]
    assert result.response_time_ms["p50"] <= result.response_time_ms["p99"] <= result.response_time_ms["max"]
    # The last five of the hundred are answered after the schedule's end. The rate is of the time from the first answer
    # on, which takes a tenth of a second or more.
    in_time = sum(row.ok for row in result.timeline if row.t < 2)
    assert in_time <= 95
    assert 2 - result.response_time_ms["max"] / 1000 <= in_time / result.rate <= 1.9
    assert sum(row.sent for row in result.timeline) == 100
    assert sum(row.ok for row in result.timeline) == 100


@pytest.mark.parametrize("codes", ["100", "103", "100/102/103/100"])
def test_answers_before_the_one_that_counts_are_none_wherever_they_are_cut(measured, server, codes):
    request = Request("interim", path=f"/interim/{codes}")
    opened = server.opened()
    load = Load(server.url, (request,), (b"HTTP/1.1 100 X",), rate=400, duration_s=0.5, connections=4)
    result = measured(load)
    assert (result.planned, result.ok, result.errors) == (200, 200, {})
    assert server.opened() - opened <= 4 + 1  # and the one that asks this


def test_a_server_that_freezes_for_a_second_every_five(measured, freezing_server):
    # A fifth of the schedule falls into the freezes and waits uniformly for 0 to 1,000 ms. So half of it waits for
    # nothing; 90% waits for less than 500 ms, 95% for less than 750 ms, 99% for less than 950 ms.
    result = measured(Load.of_url(f"{freezing_server.url}/ok", rate=200, duration_s=10))
    assert result.planned == result.ok == 2000
    response = result.response_time_ms
    for figure, least in {"p90": 400, "p95": 650, "p99": 880, "max": 950, "mean": 80}.items():
        assert response[figure] > least  # and more on a busy machine
    assert response["p50"] < response["p90"]
    assert result.send_lag_ms["p90"] < response["p90"]  # the generator did not freeze


def test_a_frozen_generator_is_late_and_says_so(server, generators):
    # A quarter of the schedule falls into the second for which the generator is stopped: 90% of all is late by less
    # than 600 ms, 99% by less than 960 ms. The server was fast all the time.
    seen = threading.Event()
    results = []
    load = Load.of_url(f"{server.url}/ok", rate=100, duration_s=4)
    before = set(generators())  # the one that other tests of this file share
    thread = threading.Thread(target=lambda: results.append(openloop.run(load, lambda row: seen.set())))
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


def test_a_request_that_is_never_answered_is_unfinished(measured, server):
    result = measured(Load.of_url(f"{server.url}/tenth", rate=100, duration_s=1, timeout_s=1.5))
    assert (result.planned, result.sent, result.ok, result.unfinished) == (100, 100, 90, 10)
    assert result.errors == {}
    failed = Histogram.decode(result.histograms["failed"])
    assert failed.total == 10
    assert failed.percentile(0) >= 1_500_000  # microseconds: they had waited to the end of the grace period


def test_a_request_that_waits_too_long_is_given_up(measured, server):
    result = measured(Load.of_url(f"{server.url}/never", rate=50, duration_s=2, timeout_s=0.5))
    assert (result.planned, result.sent, result.completed, result.ok) == (100, 100, 0, 0)
    assert result.errors["timeout"] + result.unfinished == 100
    assert result.errors["timeout"] >= 50
    assert result.unfinished > 0
    assert result.response_time_ms == dict.fromkeys(result.response_time_ms)
    assert Histogram.decode(result.histograms["failed"]).total == 100


def test_waiting_for_a_connection_is_in_the_response_time(measured, server):
    # One connection, 100 ms each: ten a second are served, twenty are sent. The last of 40 waits for 2 s longer.
    result = measured(Load.of_url(f"{server.url}/after/100", rate=20, duration_s=2, connections=1, timeout_s=20))
    assert result.planned == result.ok == 40
    assert result.waited >= 38
    assert result.service_time_ms["p50"] >= 100
    assert result.response_time_ms["max"] > 1900
    assert result.send_lag_ms["max"] > 1800
    assert result.pacing_lag_ms["p50"] < result.send_lag_ms["p50"]  # the generator itself was on time
    assert sum(row.ok for row in result.timeline if row.t < 2) <= 20


@pytest.mark.parametrize(
    ("path", "kind", "answered"),
    [("status/503", "status", True), ("reset", "reset", False), ("cut", "reset", False), ("ok", "wrong-body", True)],
)
@pytest.mark.parametrize("rate", [50, None])
def test_errors_are_counted_by_kind_and_kept_out_of_the_times(measured, server, path, kind, answered, rate):
    load = Load.of_url(f"{server.url}/{path}", rate=rate, duration_s=0.5, connections=4, bodies=(b"KO",))
    result = measured(load)
    assert set(result.errors) == {kind}
    assert result.errors[kind] == result.planned == result.sent > 0
    assert result.completed == (result.planned if answered else 0)
    assert (result.ok, result.rate) == (0, 0)
    assert result.response_time_ms["p50"] is None
    assert kind in result.examples


@pytest.mark.parametrize("rate", [50, None])
def test_a_refused_connection_is_an_error_of_its_kind(measured, unused_port, rate):
    result = measured(Load.of_url(f"http://127.0.0.1:{unused_port}/", rate=rate, duration_s=0.5, connections=4))
    assert set(result.errors) == {"refused"}
    assert planned_by_end(result) == result.planned == result.errors["refused"] > 0


def test_a_server_that_closes_after_each_answer_costs_no_errors(measured, server):
    for rate in (100, None):
        result = measured(Load.of_url(f"{server.url}/closing", rate=rate, duration_s=1, connections=4))
        assert result.ok == result.planned > 50
        assert result.errors == {}


def test_the_body_is_sent_and_compared(measured, server):
    body = "ä".encode() * 50_000
    request = Request("echo", "POST", "/echo", body=body)
    result = measured(Load(server.url, (request,), (body,), rate=20, duration_s=0.5))
    assert result.ok == result.planned == 10


def test_a_closed_loop_sends_as_soon_as_it_is_answered(measured, server):
    result = measured(Load.of_url(f"{server.url}/after/100", connections=5, duration_s=2))
    assert result.planned == result.sent == result.ok == planned_by_end(result)
    assert 5 < result.ok <= 100  # 5 connections, each at most 10 a second
    assert result.response_time_ms["p50"] >= 100
    assert result.response_time_ms == result.service_time_ms
    assert (result.send_lag_ms["max"], result.send_lag_ms["mean"]) == (0, 0)


def test_several_processes_share_a_rate_exactly(server):
    rows = []
    load = Load.of_url(f"{server.url}/ok", rate=100, duration_s=1.01, processes=3, connections=10)
    result = openloop.run(load, rows.append)
    assert result.planned == result.sent == result.ok == server.count() == 101
    assert Histogram.decode(result.histograms["response_time"]).total == 101
    assert len(result.generator) == 3
    assert sum(row.sent for row in result.timeline) == 101
    assert tuple(sorted(rows, key=lambda row: row.t)) == result.timeline


def test_a_load_can_be_stopped_early(server):
    rows = []
    load = Load.of_url(f"{server.url}/tenth", rate=100, duration_s=600)
    result = openloop.run(load, rows.append, lambda: len(rows) >= 1)
    assert 1 <= result.duration_s < 600
    assert 100 <= result.planned == planned_by_end(result) < 60_000
    assert result.unfinished >= result.planned // 10 > 0


def test_keep_alive_can_be_turned_off(measured, server):
    result = measured(Load.of_url(f"{server.url}/ok", rate=50, duration_s=0.5, keep_alive=False))
    assert result.ok == result.planned == 25
