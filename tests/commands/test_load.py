"""``load`` and ``capacity``: what they print of a URL, and as JSON."""

import json

import pytest

MIX = """
[[requests]]
name = "front [page]"
path = "/ok"
weight = 2
at = [0, 0.4]

[[requests]]
path = "/status/503"
at = [0.2]
"""


@pytest.fixture
def mix(tmp_path):
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    return file


@pytest.mark.servers
def test_what_became_of_the_requests_and_the_times_are_printed(server, mix, command):
    code, printed, _ = command("load", server.url, "--workload", mix, "--rate", "60", "--duration", "0.5s")
    assert code == 0
    rows = [line.split() for line in printed.splitlines()]
    assert ["planned", "30"] in rows
    assert "error: status (first: status 503 instead of 200) 10" in [" ".join(row) for row in rows]
    for time in ("response time", "service time", "send lag"):
        assert time.split() in [row[:2] for row in rows]
    assert "response time by request" in printed
    assert "front [page]" in printed
    assert "GET /status/503" in printed


@pytest.mark.servers
def test_a_replay_as_json(server, mix, command):
    code, printed, _ = command("load", server.url, "--workload", mix, "--speed", "1", "--json")
    result = json.loads(printed)
    assert (code, result["planned"], result["ok"], result["errors"]) == (0, 3, 2, {"status": 1})
    assert result["examples"] == {"status": "status 503 instead of 200"}
    assert [row["planned"] for row in result["requests"]] == [2, 1]


SHORT = ("--rate", "40", "--duration", "0.5s")


@pytest.mark.servers
@pytest.mark.parametrize("json_or_not", [(), ("--json",)])
def test_a_load_of_which_nothing_was_answered_as_expected_fails(server, command, unused_port, json_or_not):
    code, printed, errors = command("load", f"{server.url}/status/302", *SHORT, *json_or_not)
    assert (code, bool(printed)) == (1, True)
    assert errors == "error: no request was answered as expected: 20 status 302 instead of 200\n"
    code, _, errors = command("load", f"http://127.0.0.1:{unused_port}/", *SHORT, *json_or_not)
    assert code == 1
    assert errors.startswith("error: no request was answered as expected: 20 connect ECONNREFUSED")


@pytest.mark.servers
@pytest.mark.parametrize("arguments", [("load", *SHORT), ("capacity", "--probe", "1s")])
def test_a_400_hints_at_the_host_unless_one_was_given(server, command, arguments):
    name, *options = arguments
    code, _, errors = command(name, f"{server.url}/status/400", *options)
    assert code == 1
    assert (
        "status 400 instead of 200; a Django project answers 400 where ALLOWED_HOSTS does not have the host" in errors
    )
    assert "--header 'Host: NAME'" in errors
    code, _, errors = command(name, f"{server.url}/status/400", *options, "--header", "Host: a.example")
    assert code == 1
    assert errors.endswith("status 400 instead of 200\n")


@pytest.mark.servers
def test_a_capacity_has_a_line_a_probe_beside_its_result(server, command):
    search = ["--objective", "p99<5s", "--start-rate", "5", "--max-rate", "5", "--probe", "500ms", "--confirm", "500ms"]
    code, printed, errors = command("capacity", f"{server.url}/ok", *search)
    assert (code, printed) == (
        0,
        "at least 5 requests/s, the highest rate that was allowed (p99<5000ms, errors<0.1%)\n",
    )
    assert [line.partition(":")[0].strip() for line in errors.splitlines()] == ["5 requests/s for 0.5 s"] * 2
    found = json.loads(command("capacity", f"{server.url}/ok", *search, "--json")[1])
    assert list(found) == ["rate", "above", "limited_by", "sentence", "objective", "probes"]
    assert (found["rate"], found["limited_by"], len(found["probes"])) == (5, "max_rate", 2)
