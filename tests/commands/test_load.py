"""Test the output of ``load`` and ``capacity`` for a URL, also as JSON."""

import json

import pytest

from loadtests.measure import url
from loadtests.measure.searches.capacity import LimitedBy, SearchedCapacity
from loadtests.plan.objective import Objective
from loadtests.records import CapacityRecord


@pytest.mark.servers
def test_load_prints_counts_and_times(server, mix, command):
    code, printed, _ = command("load", server.url, "--workload", mix, "--rate", "60", "--duration", "0.5s")
    assert code == 0
    rows = [line.split() for line in printed.splitlines()]
    assert ["planned", "30"] in rows
    assert "error: status (first: status 503 instead of 200) 10" in [" ".join(row) for row in rows]
    for times in ("response time", "service time", "send lag"):
        assert times.split() in [row[:2] for row in rows]
    assert "GET /status/503" in printed


SHORT = ("--rate", "40", "--duration", "0.5s")


@pytest.mark.servers
def test_load_without_successful_answers_fails(server, command, unused_port):
    code, printed, errors = command("load", f"{server.url}/status/302", *SHORT, "--json")
    assert (code, json.loads(printed)["ok"]) == (1, 0)
    assert errors == "error: no request was answered as expected: 20 status 302 instead of 200\n"
    code, _, errors = command("load", f"http://127.0.0.1:{unused_port}/", *SHORT)
    assert code == 1
    assert errors.startswith("error: no request was answered as expected: 20 connect ECONNREFUSED")


@pytest.mark.servers
@pytest.mark.parametrize(
    ("host", "hints"), [((), True), pytest.param(("--header", "Host: a.example"), False, marks=pytest.mark.exhaustive)]
)
def test_status_400_hints_at_host_header(server, command, host, hints):
    _, _, errors = command("load", f"{server.url}/status/400", *SHORT, *host)
    assert ("--header 'Host: NAME'" in errors) == hints


QUICKLY = ("--objective", "p50<5s", "--start-rate", "40", "--probe-time", "500ms", "--confirm-time", "500ms")


@pytest.mark.exhaustive
@pytest.mark.servers
def test_capacity_prints_probes_and_result(server, command):
    search = [*QUICKLY, "--max-rate", "40"]
    code, printed, errors = command("capacity", f"{server.url}/ok", *search)
    assert code == 0
    assert printed == "at least 40 requests/s, the highest rate that was allowed (p50<5000ms, errors<0.1%)\n"
    probes = [line.partition(":")[0].strip() for line in errors.splitlines()]
    assert probes == ["40 requests/s for 0.5 s", "40 requests/s for 0.5 s, to confirm"]
    found = json.loads(command("capacity", f"{server.url}/ok", *search, "--json")[1])
    assert list(found) == ["rate", "above", "limited_by", "sentence", "objective", "probes"]
    assert (found["rate"], found["limited_by"], len(found["probes"])) == (40, "max_rate", 2)


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_search_without_rate_fails(command, monkeypatch, as_json):
    sentence = SearchedCapacity(None, 2.0, LimitedBy.SERVER, ()).sentence
    found = CapacityRecord(None, 2.0, LimitedBy.SERVER.value, sentence, str(Objective()), ())
    monkeypatch.setattr(url, "find_capacity", lambda search, on_probe, on_second: found)
    code, printed, errors = command("capacity", "http://127.0.0.1:1/", *as_json)
    says = "no rate is within the objective, not even 2 requests/s"
    assert (code, errors) == (1, f"error: {says} (p99<50ms, errors<0.1%)\n")
    assert (json.loads(printed)["rate"] is None) if as_json else (printed == "")


@pytest.mark.servers
def test_unsent_requests_are_reported(server, command):
    slow = ("--rate", "20", "--connections", "1", "--duration", "0.5s", "--timeout", "0.3s")
    _, printed, errors = command("load", f"{server.url}/after/600", *slow)
    [sent] = [int(line.split()[1]) for line in printed.splitlines() if line.split()[:1] == ["sent"]]
    assert sent < 10
    assert f"{10 - sent} of 10 planned requests were not sent, because no connection was free" in errors
