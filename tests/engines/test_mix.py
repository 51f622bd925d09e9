"""Several requests in one load: each is sent as often as its weight says, and is reported by itself."""

import time
from collections import Counter

import pytest

from loadtests.engines import get
from loadtests.workload import Load, Request
from loadtests.workload.order import order

pytestmark = pytest.mark.servers

openloop = get("openloop")
QUICK = Request("quick", path="/ok", weight=3)
SLOW = Request("slow", path="/after/200", weight=1)


def row(result, name):
    return next(row for row in result.requests if row.name == name)


def expected(count):
    """How many of the first sends of a mix of QUICK and SLOW each has."""
    found = Counter(order([QUICK.weight, SLOW.weight], seed=2016)[:count])
    return [found[0], found[1]]


def test_each_request_has_its_own_times(measured, server):
    result = measured(Load(server.url, (QUICK, SLOW), rate=100, duration_s=2))
    assert (result.planned, result.ok, result.errors) == (200, 200, {})
    assert [row.name for row in result.requests] == ["quick", "slow"]
    assert [row.planned for row in result.requests] == expected(200)
    for key in ("planned", "sent", "completed", "ok"):
        assert sum(getattr(row, key) for row in result.requests) == getattr(result, key)
    quick, slow = (row(result, name).response_time_ms["p50"] for name in ("quick", "slow"))
    assert slow >= 200
    assert quick < slow
    assert result.response_time_ms["max"] == max(row.response_time_ms["max"] for row in result.requests)
    assert result.response_time_ms["p90"] >= 200  # a quarter of all is slow


def test_several_processes_send_the_same_mix(server):
    result = openloop.run(Load(server.url, (QUICK, SLOW), rate=100, duration_s=1.01, processes=3))
    assert result.planned == result.ok == server.count() == 101
    assert [row.planned for row in result.requests] == expected(101)


def test_a_closed_loop_sends_a_mix(measured, server):
    result = measured(Load(server.url, (QUICK, SLOW), connections=4, duration_s=1.5))
    assert result.ok == result.planned == sum(row.ok for row in result.requests) > 40
    assert [row.planned for row in result.requests] == expected(result.planned)


def test_each_request_has_its_own_errors_and_expectations(measured, server):
    requests = (
        Request("good", path="/ok"),
        Request("moved", path="/status/302", status=302),
        Request("down", path="/status/503"),
        Request("other", path="/echo", method="POST", body=b"a"),
        Request("reset", path="/reset"),
    )
    load = Load(server.url, requests, (b"OK", None, None, b"b", None), rate=100, duration_s=1)
    result = measured(load)
    assert {row.name: set(row.errors) for row in result.requests} == {
        "good": set(), "moved": set(), "down": {"status"}, "other": {"wrong-body"}, "reset": {"reset"},
    }  # fmt: skip
    assert result.errors == {
        kind: sum(row.errors.get(kind, 0) for row in result.requests) for kind in ("status", "reset", "wrong-body")
    }
    assert row(result, "down").response_time_ms["p50"] is None
    assert row(result, "down").completed == row(result, "down").planned


def test_a_request_that_is_never_answered_is_unfinished_or_given_up(measured, server):
    requests = (Request("good", path="/ok"), Request("never", path="/never"))
    result = measured(Load(server.url, requests, rate=50, duration_s=1.5, timeout_s=0.5))
    never = row(result, "never")
    assert never.planned == never.errors["timeout"] + never.unfinished == result.planned - result.ok
    assert row(result, "good").unfinished == 0
    assert never.unfinished > 0


def test_a_server_that_refuses_fails_every_request(measured, unused_port):
    requests = (Request("a"), Request("b", path="/b"))
    result = measured(Load(f"http://127.0.0.1:{unused_port}", requests, rate=40, duration_s=0.5))
    assert [row.errors for row in result.requests] == [{"refused": row.planned} for row in result.requests]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_method_and_headers_arrive(measured, server, method):
    request = Request("a", method, "/asked", (("X-Twice", "1"), ("X-Twice", "é"), ("x-once", "")), weight=1)
    body = method.encode() + "\nX-Twice: 1\nX-Twice: é\nx-once: ".encode("latin-1")
    result = measured(Load(server.url, (request,), (b"" if method == "HEAD" else body,), rate=20, duration_s=0.2))
    assert (result.ok, result.examples) == (4, {})


@pytest.mark.parametrize("request_", [Request("a", "HEAD", "/ok"), Request("a", "DELETE", "/ok", body=b"a")])
def test_a_connection_is_kept_whatever_was_asked(measured, server, request_):
    result = measured(Load(server.url, (request_,), connections=1, duration_s=0.3))
    assert result.ok > 5
    assert server.opened() <= 2  # the load's, and that of its end


@pytest.mark.parametrize("processes", [1, 2])
def test_a_replay_sends_when_it_was_recorded(server, processes):
    recorded = ((0.0, 0), (0.2, 1), (0.4, 0), (0.4, 0), (2.1, 1), (2.2, 0))
    load = Load(server.url, (QUICK, SLOW), recorded=recorded, rate=2, duration_s=3, processes=processes)
    begun = time.monotonic()
    result = openloop.run(load)
    assert time.monotonic() - begun > 2.3
    assert (result.planned, result.ok, result.duration_s) == (6, 6, 3)
    assert [row.planned for row in result.requests] == [4, 2]
    seconds = {row.t: row.sent for row in result.timeline}
    assert (seconds[0], seconds.get(1, 0), seconds[2]) == (4, 0, 2)


def test_a_replay_is_warmed_up_with_its_own_requests(server):
    load = Load(server.url, (QUICK,), recorded=((0.0, 0),), rate=50, duration_s=0.5, warmup_s=1)
    assert openloop.run(load).planned == 1
    assert 40 <= server.count() <= 51
