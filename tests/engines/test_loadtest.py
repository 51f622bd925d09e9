"""Test the engine ``loadtest``: it reports the figures of the npm package, except misleading figures."""

import pytest

from loadtests.engines import get
from loadtests.errors import UserError
from loadtests.workload import Load, Request

loadtest = get("loadtest")

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

NOWHERE = "http://127.0.0.1:1"
NONE = dict.fromkeys(("p50", "p90", "p95", "p99", "p99.9", "max", "mean"))


def test_latency_is_in_whole_milliseconds(server):
    result = loadtest.run(Load.of_url(f"{server.url}/after/50", rate=50, duration_s=2, bodies=(b"OK",)))
    assert 90 <= result.ok <= result.sent <= result.planned <= 101
    assert result.planned >= 100
    assert result.latency_of == "service_time"
    assert result.latency_ms is result.service_time_ms
    assert result.service_time_ms["p50"] >= 50
    assert result.service_time_ms["max"] == int(result.service_time_ms["max"])
    assert result.response_time_ms == result.send_lag_ms == NONE
    assert result.errors == {}
    assert sum(row.ok for row in result.timeline) == result.ok


@pytest.mark.parametrize(
    ("path", "kind"),
    [("status/503", "status"), ("status/302", "status"), ("reset", "reset"), ("ok", "wrong-body"), (None, "refused")],
)
def test_errors_have_no_response_time(server, unused_port, path, kind):
    url = f"{server.url}/{path}" if path else f"http://127.0.0.1:{unused_port}/"
    result = loadtest.run(Load.of_url(url, rate=50, duration_s=0.6, bodies=(b"KO",)))
    assert set(result.errors) == {kind}
    assert result.errors[kind] >= 15
    assert (result.ok, result.rate) == (0, 0)
    assert result.service_time_ms == NONE


def test_slow_answer_times_out(server):
    result = loadtest.run(Load.of_url(f"{server.url}/never", rate=20, duration_s=1.5, timeout_s=0.5))
    assert set(result.errors) == {"timeout"}
    assert result.errors["timeout"] + result.unfinished == result.planned
    assert result.unfinished > 0


def test_closed_loop_is_supported(server):
    result = loadtest.run(Load.of_url(f"{server.url}/after/50", connections=4, duration_s=1))
    assert result.planned == result.sent <= server.count() <= 81
    assert result.ok >= 20
    assert result.response_time_ms == result.service_time_ms
    assert result.service_time_ms["p50"] >= 50


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load.of_url("http://127.0.0.1:1/", processes=2), "cannot share a load among several processes. Use openloop"),
        (Load(NOWHERE, (Request("a", "HEAD"),)), "can't send HEAD"),
        (Load(NOWHERE, (Request("a"), Request("b"))), "cannot send a mix of requests. Use openloop"),
    ],
)
def test_unsupported_load_is_refused(load, words):
    with pytest.raises(UserError, match=words):
        loadtest.run(load)
