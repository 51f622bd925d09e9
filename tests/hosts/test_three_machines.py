"""Three machines, in network namespaces with cables between them: several clients, and a service apart."""

import json

import pytest

from tests.fixtures.changed_machines import of_their_own
from tests.fixtures.other_machine import trials
from tests.fixtures.two_machines import SECOND
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(400)]

STUDY = """
title = "One setup, on another machine"
setups = ["gunicorn"]
blocks = 1
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
USERS = """
title = "Users who come to the other machine"
setups = ["gunicorn"]
blocks = 1
[tests.users]
kind = "journey"
rate = 4
think = ["10ms", "30ms"]
warmup = "500ms"
duration = "3s"
"""
WITHIN_S = 60


def test_redis_serves_over_the_network(second, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(duration="1s").replace('"gunicorn"', '"daphne-redis"'))
    folder = tmp_path / "run"
    hosts = ("--servers", second.where, "--services", f"redis={second.second}")
    _, printed, errors = second.run("run", study, *hosts, "--output", folder, "--anyway")
    assert f", redis on {second.second} (" in " ".join(printed.split()), errors
    [found] = json.loads((folder / "run.json").read_text())["service_hosts"]
    assert found["listens_on"] == SECOND
    assert found["round_trip_ms"] > 0
    first = trials(folder)[0]
    assert first["result"]["ok"] == 50, first["log"]
    assert {row["role"]: row["charged"] for row in first["processes"]}["redis"] is True
    second.wait_until_nothing_runs_anywhere()


def test_a_redis_that_is_cut_off_costs_a_trial(second, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(duration="4s").replace('"gunicorn"', '"daphne-redis"'))
    folder = tmp_path / "run"
    hosts = ("--servers", second.where, "--services", f"redis={second.second}")
    process = second.start("run", study, *hosts, "--output", folder, "--anyway")
    wait_for(lambda: (folder / "run.json").exists() and second.has_redis(), "no Redis")
    second.cable_of_second("down")
    try:
        wait_for(lambda: trials(folder), "no trial")
    finally:
        second.cable_of_second("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, again = trials(folder)
    assert first["status"] == "invalid"
    assert again["result"]["ok"] == 200
    second.wait_until_nothing_runs_anywhere()


def test_two_clients_make_the_load_that_one_makes(second, study, tmp_path):
    counts, figures = [], []
    for name, clients in (("one", ()), ("two", ("--clients", second.second))):
        hosts = ("--servers", second.where, *clients)
        _, _, errors = second.run("run", study(duration="4s"), *hosts, "--output", tmp_path / name, "--anyway")
        result = trials(tmp_path / name)[-1]["result"]
        counts.append((result["planned"], result["sent"], result["ok"], result["duration_s"]))
        figures.append([one["planned"] for one in result["generator"]])
    assert counts[0] == counts[1] == (200, 200, 200, 4.0), errors
    [[alone], [here, there]] = figures
    assert alone == here + there == 200
    assert abs(here - there) <= 16  # every second send, of each slice from the beginning
    [client] = json.loads((tmp_path / "two" / "run.json").read_text())["clients"]
    assert client["round_trip_ms"] > 0
    second.wait_until_nothing_runs_there()


def test_the_users_of_two_clients_are_those_of_one(second, tmp_path):
    file = tmp_path / "users.toml"
    file.write_text(USERS)
    came = []
    for name, clients in (("one", ()), ("two", ("--clients", second.second))):
        hosts = ("--servers", second.where, *clients)
        _, _, errors = second.run("run", file, *hosts, "--seed", "7", "--output", tmp_path / name, "--anyway")
        result = trials(tmp_path / name)[-1]["result"]
        seen = result["journeys"]
        assert seen["broken_off"] == 0, errors
        assert result["ok"] == result["planned"]
        came.append(seen["completed"] + seen["under_way_last"] - seen["under_way_first"])
    assert came == [12, 12]  # in the time that counts: 4 a second
    second.wait_until_nothing_runs_there()


def test_what_happens_on_the_other_machines_is_seen(second, study, tmp_path):
    with of_their_own(second):
        for name, option, value in (
            ("clients", "--clients", second.second),
            ("services", "--services", f"redis={second.second}"),
        ):
            file = study(duration="1s")
            file.write_text(file.read_text().replace('"gunicorn"', '"gunicorn", "daphne-redis"'))
            hosts = ("--servers", second.where, option, value)
            _, _, errors = second.run("run", file, *hosts, "--output", tmp_path / name, "--anyway")
            assert trials(tmp_path / name), errors
            seen = {one["machine"]: one for one in trials(tmp_path / name)[0]["evidence"]["other_hosts"]}
            assert set(seen) == {"", second.second}, errors
            for one in seen.values():
                assert one["other_load"] >= 0
                assert all(seconds > 0 for seconds in one["calibration_s"])
                assert len(one["calibration_s"]) == len(trials(tmp_path / name)[0]["evidence"]["calibration_s"]) > 0
    [client] = json.loads((tmp_path / "clients" / "run.json").read_text())["clients"]
    assert client["same_machine"] is False


def test_another_name_of_the_servers_machine_is_no_client(second, study, tmp_path):
    with of_their_own(second, names=1):
        hosts = ("--servers", second.where, "--clients", second.second)
        code, _, errors = second.run("run", study(duration="1s"), *hosts, "--output", tmp_path / "run")
    assert code == 1
    assert f"--clients: {second.second} is the machine of {second.where}, by another name; leave it out" in errors


def test_another_name_of_redis_machine_is_no_client(second, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(duration="1s").replace('"gunicorn"', '"daphne-redis"'))
    client = second.second.replace("ssh://", "ssh://root@")
    hosts = ("--servers", second.where, "--services", f"redis={second.second}", "--clients", client)
    with of_their_own(second):
        code, _, errors = second.run("run", study, *hosts, "--output", tmp_path / "run")
    assert code == 1
    # Redis' agent has taken that machine for the run already.
    assert f"{client}: another run, or `hosts prepare`, is going on there" in errors


def test_a_second_client_that_is_cut_off_costs_a_trial(second, study, tmp_path):
    folder = tmp_path / "run"
    hosts = ("--servers", second.where, "--clients", second.second)
    process = second.start("run", study(duration="4s"), *hosts, "--output", folder, "--anyway")
    wait_for(lambda: second.measures(folder) and second.generates(), "no load")
    second.cable_of_second("down")
    try:
        wait_for(lambda: trials(folder), "no trial")
    finally:
        second.cable_of_second("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, again = trials(folder)
    assert "engine_failed" in [flag["reason"] for flag in first["flags"]]
    assert again["result"]["ok"] == 200
    second.wait_until_nothing_runs_there()
