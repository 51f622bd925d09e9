"""Two machines, in network namespaces with a cable between them: what only a network and a real ssh can show."""

import json
import os
import random
import signal
import subprocess

import pytest

from tests.fixtures.changed_machines import delayed, full_disk
from tests.fixtures.other_machine import VENV, trials
from tests.fixtures.two_machines import SERVER
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(400)]

STUDY = """
title = "One setup, on the other machine"
setups = ["gunicorn"]
blocks = 1
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
WITHIN_S = 60
WHOLE_RUN_S = 12.0  # about as long as a run with a trial of two seconds takes


def test_the_host_is_looked_at_over_the_network(pair):
    code, printed, errors = pair.run("hosts", "check", pair.where)
    assert code == 0, errors
    assert "a bare answer takes" in printed
    assert "a long answer comes at" in printed
    pair.wait_until_nothing_runs_there()


def test_a_study_is_measured_over_the_network(pair, study, tmp_path):
    folder = tmp_path / "run"
    _, printed, errors = pair.run("run", study(duration="1s"), "--servers", pair.where, "--output", folder, "--anyway")
    assert "Servers on ssh://server (" in " ".join(printed.split()), errors
    servers = json.loads((folder / "run.json").read_text())["servers"]
    assert servers["listens_on"] == SERVER
    assert servers["round_trip_ms"] > 0
    first = trials(folder)[0]
    assert first["result"]["ok"] == 50
    roles = {row["role"]: row["charged"] for row in first["processes"]}
    assert roles == {"web": True, "agent": False, "sshd": False}
    pair.wait_until_nothing_runs_there()


def test_over_tls_the_certificate_made_there_is_trusted_here(pair, tmp_path):
    file, folder = tmp_path / "study.toml", tmp_path / "run"
    file.write_text(STUDY.format(duration="1s").replace('["gunicorn"]', '[{ setup = "gunicorn", env = { TLS = 1 } }]'))
    _, _, errors = pair.run("run", file, "--servers", pair.where, "--output", folder, "--anyway")
    [first] = trials(folder)
    assert (first["result"]["ok"], first["result"]["handshakes"]["resumed"]) == (50, 0), errors
    assert first["result"]["handshakes"]["full"] > 0
    pair.wait_until_nothing_runs_there()


def test_ctrl_c_in_a_terminal_ends_all_there(pair, study, tmp_path):
    folder = tmp_path / "run"
    process = pair.start("run", study(duration="30s"), "--servers", pair.where, "--output", folder)
    wait_for(lambda: pair.measures(folder), "no load")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"go on with: python -m loadtests run --resume {folder}" in errors
    pair.wait_until_nothing_runs_there()


def test_a_cable_that_was_out_for_a_while_costs_a_trial(pair, study, tmp_path):
    folder = tmp_path / "run"
    process = pair.start("run", study(duration="3s"), "--servers", pair.where, "--output", folder, "--anyway")
    wait_for(lambda: pair.measures(folder), "no load")
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
    process = pair.start("run", study(duration="30s"), "--servers", pair.where, "--output", folder)
    wait_for(lambda: pair.measures(folder), "no load")
    process.kill()
    process.communicate()
    pair.wait_until_nothing_runs_there()


def test_nothing_is_left_on_either_after_kill_9_at_ten_random_moments(pair, study, tmp_path):
    chance = random.Random(14)
    ended = 0
    for number in range(10):
        process = pair.start("run", study(duration="2s"), "--servers", pair.where, "--output", tmp_path / str(number))
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
        _, _, errors = pair.run("run", study(duration="1s"), "--servers", pair.where, "--output", folder, "--anyway")
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


def test_servers_without_a_place_for_their_files_are_reported(pair, study, tmp_path):
    with full_disk(pair, "/dev/shm"):
        code, _, errors = pair.run("run", study(duration="1s"), "--servers", pair.where, "--output", tmp_path / "run")
    assert code == 1
    assert "Traceback" not in errors
    assert "No space left on device" in errors
    pair.wait_until_nothing_runs_anywhere()


def test_a_host_with_another_key_is_not_talked_to(pair, study):
    restore = pair.forget_the_key()
    try:
        code, printed, errors = pair.run("run", study(duration="1s"), "--servers", pair.where)
    finally:
        restore()
    assert code == 1
    assert "setup" not in printed  # at most that this machine is busy
    assert errors.startswith("error: ssh://server: Host key verification failed.")
    assert errors.count("\n") == 1
