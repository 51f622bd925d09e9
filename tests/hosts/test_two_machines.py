"""Two machines, in network namespaces with a cable between them: what only a network and a real ssh can show."""

import json
import os
import random
import signal
import subprocess

import pytest

from loadtests.paths import ROOT
from tests.fixtures.changed_machines import delayed, full_disk, of_their_own
from tests.fixtures.other_machine import VENV, needs_git, trials, wait_for
from tests.fixtures.two_machines import SECOND, SERVER

pytestmark = [pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(400)]

STUDY = """
title = "One setup, on the other machine"
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
WHOLE_RUN_S = 12.0  # about as long as a run with a trial of two seconds takes


@pytest.fixture(scope="module")
def pair(two_machines):
    """Two machines, of which the servers' was prepared."""
    needs_git()
    code, _, errors = two_machines.run("hosts", "prepare", two_machines.where, "--venv", VENV)
    assert code == 0, errors
    return two_machines


@pytest.fixture
def study(tmp_path):
    def study(duration):
        file = tmp_path / "study.toml"
        file.write_text(STUDY.format(duration=duration))
        return file

    return study


def measuring(pair, folder):
    return (folder / "run.json").exists() and pair.serves()


def test_the_host_is_looked_at_over_the_network(pair):
    code, printed, errors = pair.run("hosts", "check", pair.where)
    assert code == 0, errors
    assert "a bare answer takes" in printed
    assert "a long answer comes at" in printed
    pair.wait_until_nothing_runs_there()


def test_a_study_is_measured_over_the_network(pair, study, tmp_path):
    folder = tmp_path / "run"
    _, printed, errors = pair.run("run", study("1s"), "--servers", pair.where, "--output", folder, "--anyway")
    assert "Servers on ssh://server (" in " ".join(printed.split()), errors
    servers = json.loads((folder / "run.json").read_text())["servers"]
    assert servers["listens_on"] == SERVER
    assert servers["round_trip_ms"] > 0
    first = trials(folder)[0]
    assert first["result"]["ok"] == 50
    roles = {row["role"]: row["charged"] for row in first["processes"]}
    assert roles == {"web": True, "agent": False, "sshd": False}
    pair.wait_until_nothing_runs_there()


def test_ctrl_c_in_a_terminal_ends_all_there(pair, study, tmp_path):
    folder = tmp_path / "run"
    process = pair.start("run", study("30s"), "--servers", pair.where, "--output", folder)
    wait_for(lambda: measuring(pair, folder), "no load")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"go on with: python -m loadtests run --resume {folder}" in errors
    pair.wait_until_nothing_runs_there()


def test_a_cable_that_was_out_for_a_while_costs_a_trial(pair, study, tmp_path):
    folder = tmp_path / "run"
    process = pair.start("run", study("3s"), "--servers", pair.where, "--output", folder, "--anyway")
    wait_for(lambda: measuring(pair, folder), "no load")
    pair.cable("down")
    try:
        # Nobody tells the agent: it misses its client, and ends all that it started.
        pair.wait_until_nothing_runs_there()
    finally:
        pair.cable("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, second = trials(folder)
    assert [flag["reason"] for flag in first["flags"] if flag["severity"] == "invalid"] == ["connection_lost"]
    assert second["result"]["ok"] == 150
    pair.wait_until_nothing_runs_there()


def test_nothing_is_left_there_when_the_harness_is_killed(pair, study, tmp_path):
    folder = tmp_path / "run"
    process = pair.start("run", study("30s"), "--servers", pair.where, "--output", folder)
    wait_for(lambda: measuring(pair, folder), "no load")
    process.kill()
    process.communicate()
    pair.wait_until_nothing_runs_there()


def test_nothing_is_left_on_either_after_kill_9_at_ten_random_moments(pair, study, tmp_path):
    chance = random.Random(14)
    ended = 0
    for number in range(10):
        process = pair.start("run", study("2s"), "--servers", pair.where, "--output", tmp_path / str(number))
        try:
            process.wait(chance.uniform(0, WHOLE_RUN_S))
            ended += 1
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate(timeout=WITHIN_S)
        pair.wait_until_nothing_runs_anywhere()
    assert ended < 10


def test_a_longer_way_is_measured_and_said(pair, study, tmp_path):
    folder = tmp_path / "run"
    with delayed(pair, 20):
        _, _, errors = pair.run("run", study("1s"), "--servers", pair.where, "--output", folder, "--anyway")
        _, checked, _ = pair.run("hosts", "check", pair.where)
    servers = json.loads((folder / "run.json").read_text())["servers"]
    assert servers["round_trip_ms"] >= 20, errors
    assert trials(folder)[0]["result"]["response_time_ms"]["min"] >= 20
    assert "put both into one network" in " ".join(checked.split())
    pair.wait_until_nothing_runs_anywhere()


def test_a_full_disk_there_is_said_in_a_line(pair):
    with full_disk(pair, pair.home() / ".django-serving-benchmark"):
        code, printed, errors = pair.run("hosts", "prepare", pair.where, "--venv", VENV)
    assert (code, printed) == (1, "")
    last = errors.strip().splitlines()[-1]
    assert last.startswith("error: ssh://server: ")
    assert last.endswith("No space left on device")
    pair.wait_until_nothing_runs_anywhere()


def test_servers_without_a_place_for_their_files_are_told_of(pair, study, tmp_path):
    with full_disk(pair, "/dev/shm"):
        code, _, errors = pair.run("run", study("1s"), "--servers", pair.where, "--output", tmp_path / "run")
    assert code == 1
    assert "Traceback" not in errors
    assert "No space left on device" in errors
    pair.wait_until_nothing_runs_anywhere()


def test_a_host_with_another_key_is_not_talked_to(pair, study):
    restore = pair.forget_the_key()
    try:
        code, printed, errors = pair.run("run", study("1s"), "--servers", pair.where)
    finally:
        restore()
    assert (code, printed) == (1, "")
    assert errors.startswith("error: ssh://server: Host key verification failed.")
    assert errors.count("\n") == 1


@pytest.fixture(scope="module")
def second(pair):
    """Both, and a second client that was prepared."""
    home = pair.add_client()
    code, _, errors = pair.run("hosts", "prepare", pair.second, "--venv", VENV)
    assert code == 0, errors
    (home / ".django-serving-benchmark" / "tree" / "node_modules").symlink_to(ROOT / "node_modules")
    return pair


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
        _, _, errors = second.run("run", study("4s"), *hosts, "--output", tmp_path / name, "--anyway")
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
            file = study("1s")
            file.write_text(file.read_text().replace('"gunicorn"', '"gunicorn", "daphne-redis"'))
            hosts = ("--servers", second.where, option, value)
            _, _, errors = second.run("run", file, *hosts, "--output", tmp_path / name, "--anyway")
            assert trials(tmp_path / name), errors
            seen = {one["machine"]: one for one in trials(tmp_path / name)[0]["evidence"]["beside"]}
            assert set(seen) == {"", second.second}, errors
            for one in seen.values():
                assert one["others_cpu"] >= 0
                assert all(seconds > 0 for seconds in one["spins_s"])
                assert len(one["spins_s"]) == len(trials(tmp_path / name)[0]["evidence"]["spins_s"]) > 0
    [client] = json.loads((tmp_path / "clients" / "run.json").read_text())["clients"]
    assert client["same_machine"] is False


def test_a_second_client_that_is_cut_off_costs_a_trial(second, study, tmp_path):
    folder = tmp_path / "run"
    hosts = ("--servers", second.where, "--clients", second.second)
    process = second.start("run", study("4s"), *hosts, "--output", folder, "--anyway")
    wait_for(lambda: measuring(second, folder) and second.generates(), "no load")
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
