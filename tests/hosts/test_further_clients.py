"""Test two additional clients over SSH in network namespaces.

Check that three clients measure the same as one client.
"""

import json

import pytest

from tests.fixtures.changed_machines import of_their_own
from tests.fixtures.other_machine import trials

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(400)]

STUDY = """
title = "One setup, asked by three machines"
setups = ["{setup}"]
blocks = 1
[tests.{test}]
"""
JOURNEYS = """
kind = "journey"
rate = 6
think = ["10ms", "30ms"]
warmup = "500ms"
duration = "2s"
"""
ROOMS = """
kind = "broadcast"
rate = 60
receivers = 12
rooms = {rooms}
duration = "2s"
warmup = "500ms"
"""
SEARCH = """
kind = "capacity"
objective = "p50<2s"
start_rate = 20
max_rate = 40
probe = "1s"
confirm = "2s"
"""


@pytest.fixture
def measured(third, tmp_path):
    """Return a function that runs a study with one and with three clients and returns both trials of each test."""

    def measured(study, *options):
        found = []
        with of_their_own(third, names=3):
            for name, clients in (("one", ()), ("three", ("--clients", f"{third.second},{third.third}"))):
                hosts = ("--servers", third.where, *clients, "--output", tmp_path / name, "--ignore-busy")
                _, _, errors = third.run("run", study, *options, *hosts, timeout=300)
                found.append({(one["label"], one["test"]): one for one in trials(tmp_path / name)})
                assert found[-1], errors
                third.wait_until_nothing_runs_anywhere()
        assert len(json.loads((tmp_path / "three" / "run.json").read_text())["clients"]) == 2
        assert found[0].keys() == found[1].keys()
        return [(found[0][key], found[1][key]) for key in found[0]]

    return measured


@pytest.fixture
def written(tmp_path):
    def written(test, text, setup="gunicorn"):
        (tmp_path / "study.toml").write_text(STUDY.format(setup=setup, test=test) + text)
        return tmp_path / "study.toml"

    return written


def shares(trial):
    """Return the number of requests that each machine planned, and check that the sum is the whole schedule."""
    result = trial["result"]
    planned = [one["planned"] for one in result["generator"]]
    assert sum(planned) == result["planned"]
    assert [one["machine"] for one in result["generator"]] == ["", "ssh://second", "ssh://third"][: len(planned)]
    return planned


def test_requests_match_a_single_client(measured):
    compared = measured("first-look", "--quick", "--setups", "gunicorn", "--rate", "60")
    assert len(compared) == 2  # tests of Gunicorn
    for one, three in compared:
        assert len(shares(one)) == 1
        assert min(shares(three)) > 0
        for trial in (one, three):
            result = trial["result"]
            assert result["planned"] == result["sent"] == result["ok"]
        if one["test"] == "latency":
            assert one["result"]["planned"] == three["result"]["planned"] == 60 * one["result"]["duration_s"]


def test_journeys_match_a_single_client(measured, written):
    [(one, three)] = measured(written("users", JOURNEYS), "--seed", "7")
    came = []
    for trial in (one, three):
        seen, result = trial["result"]["journeys"], trial["result"]
        assert (seen["broken_off"], result["ok"]) == (0, result["planned"])
        came.append(seen["completed"] + seen["under_way_last"] - seen["under_way_first"])
    assert came == [12, 12]
    assert min(shares(three)) > 0


@pytest.mark.parametrize("rooms", [6, 1])
def test_deliveries_match_a_single_client(measured, written, rooms):
    [(one, three)] = measured(written("rooms", ROOMS.format(rooms=rooms), "uvicorn-channels"))
    received = 120 * 12 // rooms
    counted = ("expected", "delivered", "missing", "duplicate", "reordered", "stray", "messages", "whole")
    for trial in (one, three):
        result = trial["result"]
        assert (result["planned"], result["sent"], result["ok"]) == (120, 120, 120)
        assert [result["deliveries"][name] for name in counted] == [received, received, 0, 0, 0, 0, 120, 120]
        assert result["connections"]["opened"] == result["connections"]["requested"]
    assert one["result"]["connections"]["requested"] == three["result"]["connections"]["requested"]
    if rooms == 1:  # only one machine publishes
        assert shares(three) == [120, 0, 0]
    else:  # each machine publishes in two rooms
        assert max(shares(three)) - min(shares(three)) <= 8


def test_capacity_matches_a_single_client(measured, written):
    [(one, three)] = measured(written("most", SEARCH))
    found = [trial["capacity"] for trial in (one, three)]
    assert [capacity["rate"] for capacity in found] == [40, 40]
    probes = [[(probe["rate"], probe["duration_s"], probe["planned"]) for probe in one["probes"]] for one in found]
    assert probes[0] == probes[1]
    assert all(planned == rate * seconds for rate, seconds, planned in probes[0])
