"""Test that each request of a mix is sent according to its weight, and has separate results."""

import time
from collections import Counter

import pytest

from loadtests.engines import get
from loadtests.engines.base import Watch
from loadtests.records.histogram import decoded
from loadtests.workload import Load, Request
from loadtests.workload.order import order
from tests.fixtures.exhaustive import exhaustive_but

pytestmark = pytest.mark.servers

openloop = get("openloop")
QUICK = Request("quick", path="/ok", weight=3)
SLOW = Request("slow", path="/after/200", weight=1)
LARGE = "ä".encode() * 50_000


def row(result, name):
    return next(row for row in result.requests if row.name == name)


def expected(count):
    """Return the numbers of QUICK and SLOW requests among the first ``count`` requests of the mix."""
    found = Counter(order([QUICK.weight, SLOW.weight], seed=2016)[:count])
    return [found[0], found[1]]


def test_processes_share_rate_and_mix(server):
    rows = []
    load = Load(server.url, (QUICK, SLOW), rate=100, duration_s=1.51, processes=3, connections=30)
    result = openloop.run(load, Watch(rows.append))
    assert result.planned == result.sent == result.ok == server.count() == 151
    assert ([row.name for row in result.requests], result.errors) == (["quick", "slow"], {})
    assert [row.planned for row in result.requests] == expected(151)
    for key in ("planned", "sent", "completed", "ok"):
        assert sum(getattr(row, key) for row in result.requests) == getattr(result, key)
    assert decoded(result.histograms["response_time"]).total == 151
    quick, slow = (row(result, name).response_time_ms["p50"] for name in ("quick", "slow"))
    assert 200 <= slow > quick
    assert result.response_time_ms["max"] == max(row.response_time_ms["max"] for row in result.requests)
    assert result.response_time_ms["p90"] >= 200  # a quarter of all requests is slow
    assert len(result.generator) == 3
    assert sum(row.sent for row in result.timeline) == 151
    assert tuple(sorted(rows, key=lambda row: row.t)) == result.timeline


@pytest.mark.exhaustive
def test_closed_loop_sends_the_mix(measured, server):
    result = measured(Load(server.url, (QUICK, SLOW), connections=4, duration_s=1.5))
    assert result.ok == result.planned == sum(row.ok for row in result.requests) > 40
    assert [row.planned for row in result.requests] == expected(result.planned)


def test_requests_have_separate_errors(measured, server):
    requests = (
        Request("good", path="/ok"),
        Request("moved", path="/status/302", status=302),
        Request("down", path="/status/503"),
        Request("other", path="/echo", method="POST", body=b"a"),
        Request("reset", path="/reset"),
        Request("large", path="/echo", method="POST", body=LARGE),
    )
    result = measured(Load(server.url, requests, (b"OK", None, None, b"b", None, LARGE), rate=100, duration_s=1))
    assert {row.name: set(row.errors) for row in result.requests} == {
        "good": set(), "moved": set(), "down": {"status"}, "other": {"wrong-body"}, "reset": {"reset"}, "large": set(),
    }  # fmt: skip
    assert result.errors == {
        kind: sum(row.errors.get(kind, 0) for row in result.requests) for kind in ("status", "reset", "wrong-body")
    }
    assert row(result, "down").response_time_ms["p50"] is None
    assert row(result, "down").completed == row(result, "down").planned


def test_unanswered_request_times_out(measured, server):
    requests = (Request("good", path="/ok"), Request("never", path="/never"))
    result = measured(Load(server.url, requests, rate=50, duration_s=1.5, timeout_s=0.5))
    never = row(result, "never")
    assert never.planned == never.errors["timeout"] + never.unfinished == result.planned - result.ok
    assert (never.sent, never.completed) == (never.planned, 0)
    assert never.response_time_ms == dict.fromkeys(never.response_time_ms)
    assert row(result, "good").unfinished == 0
    assert never.errors["timeout"] >= never.planned // 2
    assert never.unfinished > 0
    failed = decoded(result.histograms["failed"])
    assert failed.total == failed.over(499_000) == never.planned


def test_methods_and_headers_are_sent(measured, server):
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    headers = (("X-Twice", "1"), ("X-Twice", "é"), ("x-once", ""))
    requests = tuple(Request(method, method, "/asked", headers) for method in methods)
    said = "\nX-Twice: 1\nX-Twice: é\nx-once: "
    bodies = tuple(b"" if method == "HEAD" else f"{method}{said}".encode("latin-1") for method in methods)
    result = measured(Load(server.url, requests, bodies, rate=28, duration_s=1))
    assert ([row.ok for row in result.requests], result.examples) == ([4] * 7, {})


@pytest.mark.parametrize("processes", exhaustive_but((2,), [1, 2]))
def test_replay_sends_at_recorded_times(server, processes):
    recorded = ((0.0, 0), (0.2, 1), (0.4, 0), (0.4, 0), (2.1, 1), (2.2, 0))
    load = Load(server.url, (QUICK, SLOW), recorded=recorded, rate=2, duration_s=3, processes=processes)
    begun = time.monotonic()
    result = openloop.run(load)
    assert time.monotonic() - begun > 2.3
    assert (result.planned, result.ok, result.duration_s) == (6, 6, 3)
    assert [row.planned for row in result.requests] == [4, 2]
    seconds = {row.t: row.sent for row in result.timeline}
    assert (seconds[0], seconds.get(1, 0), seconds[2]) == (4, 0, 2)
