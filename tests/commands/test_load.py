"""Test the output of ``load`` and ``capacity`` for a URL, also as JSON."""

import json

import pytest

from loadtests.measure import url
from loadtests.measure.capacity import FoundCapacity, Probed
from loadtests.measure.searches.capacity import LimitedBy, Probe, Purpose, SearchedCapacity
from loadtests.measure.searches.judge import Judgement, Outcome
from loadtests.plan.objective import Objective
from loadtests.workload import Load, Request
from tests.fixtures.results import good_result

LOAD = Load("http://127.0.0.1:1", (Request("GET /"),), rate=100.0, duration_s=5.0)
GOOD = Judgement(Outcome.PASS, "", clear=True)


@pytest.mark.servers
def test_load_prints_counts_and_times(server, mix, command):
    code, printed, _ = command("load", server.url, "--workload", mix, "--rate", "60", "--duration", "0.5s")
    assert code == 0
    rows = [line.split() for line in printed.splitlines()]
    assert ["planned", "30"] in rows
    assert "error: status (first: status 503 instead of 200) 10" in [" ".join(row) for row in rows]
    for times in ("response time", "service time", "send lag"):
        assert times.split() in [row[:2] for row in rows]
    assert "response time by request" in printed
    assert "front [page]" in printed
    assert "GET /status/503" in printed


@pytest.mark.servers
def test_replay_result_is_printed_as_json(server, mix, command):
    code, printed, _ = command("load", server.url, "--workload", mix, "--speed", "1", "--json")
    result = json.loads(printed)
    assert (code, result["planned"], result["ok"], result["errors"]) == (0, 3, 2, {"status": 1})
    assert result["examples"] == {"status": "status 503 instead of 200"}
    assert [row["planned"] for row in result["requests"]] == [2, 1]


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
    "arguments", [("load", *SHORT), pytest.param(("capacity", "--probe-time", "1s"), marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize(("host", "hints"), [((), True), (("--header", "Host: a.example"), False)])
def test_status_400_hints_at_host_header(server, command, arguments, host, hints):
    name, *options = arguments
    code, _, errors = command(name, f"{server.url}/status/400", *options, *host)
    assert (code, "status 400 instead of 200" in errors) == (1, True)
    hint = "; a Django project answers 400 if ALLOWED_HOSTS doesn't contain the host"
    assert (hint in errors, "--header 'Host: NAME'" in errors) == (hints, hints)


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


@pytest.mark.servers
@pytest.mark.exhaustive
def test_equal_probes_share_a_line(server, command):
    # The response time is slightly over the limit. A probe of half a second isn't long enough to confirm the excess, so
    # the search repeats the probe.
    near = ("--objective", "p50<150ms", *QUICKLY[2:], "--max-time", "15s")
    _, _, errors = command("capacity", f"{server.url}/after/200", *near)
    assert [line.partition(":")[0].strip() for line in errors.splitlines()][:2] == [
        "40 requests/s for 0.5 s",
        "the same outcome in 1 more probe",
    ]


@pytest.fixture
def ended_with(command, monkeypatch):
    """Return a function that simulates a search result and returns the exit code and output of ``capacity``."""

    def end(rate, above, limited_by, probes, *options):
        found = FoundCapacity(SearchedCapacity(rate, above, limited_by, ()), Objective(), probes)
        monkeypatch.setattr(url, "find_capacity", lambda search, on_probe, on_second: found)
        return command("capacity", "http://127.0.0.1:1/", *options)

    return end


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize(
    ("limited_by", "says"),
    [
        (LimitedBy.SERVER, "no rate is within the objective, not even 2 requests/s"),
        (LimitedBy.GENERATOR, "no rate within the objective; the load generator was the limit, not the server"),
        (LimitedBy.TIME, "inconclusive: the time limit was reached after 0 probes"),
    ],
)
def test_search_without_rate_fails(ended_with, limited_by, says, as_json):
    code, printed, errors = ended_with(None, 2.0, limited_by, [], *as_json)
    assert (code, errors) == (1, f"error: {says} (p99<50ms, errors<0.1%)\n")
    assert (json.loads(printed)["rate"] is None) if as_json else (printed == "")


@pytest.mark.parametrize(
    ("passed", "rate", "above", "enough"),
    [
        ((100.0, 200.0), None, 400.0, "4m"),  # five probes of 5 s and three of 30 s are needed
        ((100.0, 200.0), 200.0, 1000.0, "5m"),  # one more probe is needed, and probes are longer
        ((), None, None, "6m"),  # a probe at 50 requests/s takes 20 s
    ],
)
def test_time_limit_error_suggests_longer_limit(ended_with, passed, rate, above, enough):
    probes = [Probed(Probe(one, 5.0, Purpose.DOUBLE), good_result(LOAD), GOOD) for one in passed]
    _, printed, errors = ended_with(rate, above, LimitedBy.TIME, probes, "--max-time", "90s")
    assert (printed + errors).endswith(f"(p99<50ms, errors<0.1%); try --max-time {enough}\n")


@pytest.mark.servers
def test_unsent_requests_are_reported(server, command):
    slow = ("--rate", "20", "--connections", "1", "--duration", "0.5s", "--timeout", "0.3s")
    _, printed, errors = command("load", f"{server.url}/after/600", *slow)
    [sent] = [int(line.split()[1]) for line in printed.splitlines() if line.split()[:1] == ["sent"]]
    assert sent < 10
    assert f"{10 - sent} of 10 planned requests were not sent, because no connection was free" in errors


@pytest.mark.servers
def test_websocket_load_counts_misdirected_messages(conversing, command):
    address = f"{conversing(twice=10, astray=15).url.replace('http', 'ws')}/ws/echo/"
    load = ("--rate", "60", "--duration", "0.5s", "--connections", "3", "--size", "100")
    code, printed, errors = command("load", address, *load)
    rows = [line.split() for line in printed.splitlines()]
    assert code == 0
    assert [row for row in (["planned", "30"], ["ok", "30"], ["connections", "opened", "3"]) if row not in rows] == []
    assert [row for row in (["deliveries", "duplicate", "3"], ["deliveries", "stray", "2"]) if row not in rows] == []
    assert "2 messages reached the wrong connections" in errors


@pytest.mark.exhaustive
@pytest.mark.servers
def test_load_and_capacity_support_websockets(conversing, command):
    address = f"{conversing().url.replace('http', 'ws')}/ws/echo/"
    found = json.loads(command("load", address, *SHORT, "--connections", "2", "--json")[1])
    assert (found["ok"], found["deliveries"]["delivered"], found["connections"]["opened"]) == (20, 20, 2)
    code, printed, errors = command("capacity", address, *QUICKLY, "--max-rate", "40", "--connections", "5")
    assert (code, printed.startswith("at least 40 messages/s, the highest rate that was allowed")) == (0, True)
    assert "40 messages/s for 0.5 s, to confirm" in errors
