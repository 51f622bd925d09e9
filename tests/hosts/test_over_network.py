"""Test runs over a real network and a real ssh.

The machines are network namespaces, which are connected by virtual cables.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys

import psutil
import pytest

from tests.fixtures.changed_machines import delayed, full_disk, of_their_own
from tests.fixtures.other_machine import VENV, trials
from tests.fixtures.two_machines import CLIENT, FURTHER, SECOND, SERVER, TwoMachines
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(500)]

STUDY = """
title = "One setup, on the other machine"
setups = [{setup}]
blocks = 1
interleave = {interleave}
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
GUNICORN, REDIS = '"gunicorn"', '"daphne-redis"'
DEFAULTS = {"setup": GUNICORN, "interleave": "true"}
WITHIN_S = 60
WHOLE_RUN_S = 12.0  # approximate duration of a run with one trial of two seconds
# Prints the open TCP ports of an address.
SCAN = """
import socket, sys
for port in range(1, 65_536):
    with socket.socket() as one:
        one.settimeout(5)
        if one.connect_ex((sys.argv[1], port)) == 0:
            print(port)
"""


@pytest.fixture
def command(study, folder):
    """Return a function that returns the command for a run of a given duration, with servers on another machine."""

    def command(machines, duration, *options, **values):
        file = study(duration=duration, **values)
        return "run", file, "--servers", machines.where, "--output", folder, *options

    return command


def test_study_over_network_uses_tls(pair, command, folder):
    setup = '{ setup = "gunicorn", env = { TLS = 1 } }'
    _, printed, errors = pair.run(*command(pair, "1s", "--ignore-busy", setup=setup))
    assert "Servers on ssh://server (" in " ".join(printed.split()), errors
    servers = json.loads((folder / "run.json").read_text())["servers"]
    assert servers["listens_on"] == SERVER
    assert servers["round_trip_ms"] > 0
    first = trials(folder)[0]
    assert (first["result"]["ok"], first["result"]["handshakes"]["resumed"]) == (50, 0)
    assert first["result"]["handshakes"]["full"] > 0
    roles = {row["role"]: row["charged"] for row in first["processes"]}
    assert roles == {"web": True, "agent": False, "sshd": False}
    pair.wait_until_nothing_runs_there()


def test_ctrl_c_ends_remote_programs(pair, command, folder):
    process = pair.start(*command(pair, "30s"))
    wait_for(lambda: pair.measures(folder), "no load")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert f"continue with: python -m loadtests run --resume {folder}" in errors
    pair.wait_until_nothing_runs_there()


def test_short_network_loss_invalidates_one_trial(pair, command, folder):
    process = pair.start(*command(pair, "3s", "--ignore-busy"))
    wait_for(lambda: pair.measures(folder), "no load")
    pair.cable("down")
    try:
        # The agent receives no message, but notices that its client is gone, and ends all programs that it started.
        pair.wait_until_nothing_runs_there()
    finally:
        pair.cable("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, second = trials(folder)
    assert [flag["reason"] for flag in first["flags"] if flag["severity"] == "invalid"] == ["connection_lost"]
    assert second["result"]["ok"] == second["result"]["planned"] >= 150
    pair.wait_until_nothing_runs_there()


def test_kill_9_leaves_no_remote_programs(pair, study, tmp_path):
    chance = random.Random(14)
    file = study(duration="2s")
    ended = 0
    for number in range(10):
        process = pair.start("run", file, "--servers", pair.where, "--output", tmp_path / str(number))
        try:
            process.wait(chance.uniform(0, WHOLE_RUN_S))
            ended += 1
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate(timeout=WITHIN_S)
        pair.wait_until_nothing_runs_anywhere()
    assert ended < 10


def test_network_delay_is_measured(pair, command, folder):
    with delayed(pair, 20):
        _, _, errors = pair.run(*command(pair, "1s", "--ignore-busy"))
        _, checked, _ = pair.run("hosts", "check", pair.where)
    servers = json.loads((folder / "run.json").read_text())["servers"]
    assert servers["round_trip_ms"] >= 20, errors
    assert trials(folder)[0]["result"]["response_time_ms"]["min"] >= 20
    assert "connect both machines to the same wired network" in " ".join(checked.split())
    pair.wait_until_nothing_runs_anywhere()


def test_full_remote_disk_is_reported(pair, command):
    for place, arguments in (
        (pair.home() / ".django-serving-benchmark", ("hosts", "prepare", pair.where, "--venv", VENV)),
        ("/dev/shm", command(pair, "1s")),
    ):
        with full_disk(pair, place):
            code, _, errors = pair.run(*arguments)
        assert code == 1
        assert "Traceback" not in errors
        last = errors.strip().splitlines()[-1]
        assert last.startswith("error: ssh://server: ")
        assert "No space left on device" in last
        pair.wait_until_nothing_runs_anywhere()


@pytest.mark.parametrize(
    ("setup", "option", "value", "has_begun"),
    [
        (REDIS, "--services", "redis=ssh://second", TwoMachines.has_redis),
        (GUNICORN, "--clients", "ssh://second", TwoMachines.generates),
    ],
    ids=["Redis' machine", "a client"],
)
def test_disconnected_machine_invalidates_one_trial(second, command, folder, setup, option, value, has_begun):
    process = second.start(*command(second, "4s", option, value, "--ignore-busy", setup=setup))
    wait_for(lambda: (folder / "run.json").exists() and has_begun(second), "no load")
    second.cable_of_second("down")
    try:
        wait_for(lambda: trials(folder), "no trial")
    finally:
        second.cable_of_second("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, again = trials(folder)
    assert first["status"] == "invalid"
    assert setup == REDIS or "engine_failed" in [flag["reason"] for flag in first["flags"]]
    assert again["result"]["ok"] == again["result"]["planned"] >= 200
    second.wait_until_nothing_runs_anywhere()


def test_events_on_other_machines_are_recorded(second, command, folder):
    setup = f"{GUNICORN}, {REDIS}"
    for option, value in (("--clients", second.second), ("--services", f"redis={second.second}")):
        with of_their_own(second):
            _, _, errors = second.run(*command(second, "1s", option, value, "--ignore-busy", setup=setup))
        assert trials(folder), errors
        evidence = trials(folder)[0]["evidence"]
        seen = {one["machine"]: one for one in evidence["other_hosts"]}
        assert set(seen) == {"", second.second}, errors
        for one in seen.values():
            assert one["other_load"] >= 0
            assert all(seconds > 0 for seconds in one["calibration_s"])
            assert len(one["calibration_s"]) == len(evidence["calibration_s"]) > 0
        record = json.loads(folder.rename(f"{folder}{option}").joinpath("run.json").read_text())
        found = record["clients" if option == "--clients" else "service_hosts"][0]
        assert (found["same_machine"], found.get("listens_on", SECOND)) == (False, SECOND)


@pytest.mark.parametrize(
    ("names", "setup", "options", "says"),
    [
        (1, GUNICORN, ["--clients", "ssh://second"], "ssh://second and ssh://server are the same machine"),
        # The agent for Redis has already locked the machine ssh://second for the run.
        (
            2, REDIS, ["--services", "redis=ssh://second", "--clients", "ssh://root@second"],
            "ssh://root@second: another run or `hosts prepare` is using the machine",
        ),
    ],
)  # fmt: skip
def test_alias_of_machine_is_refused(second, command, names, setup, options, says):
    with of_their_own(second, names=names):
        code, _, errors = second.run(*command(second, "1s", *options, setup=setup))
    assert code == 1
    assert says in errors


def of_module(processes, module):
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            found += [process] if any(module in word for word in process.cmdline()) else []
    return found


def carrying(machines):
    """Return the workers whose generators run. The other machines' workers come first."""
    found = []
    for worker in of_module([*machines.running_there(), *machines.running_here()], "worker"):
        with contextlib.suppress(psutil.Error):
            found += [worker] if any(child.name() == "node" for child in worker.children()) else []
    return found


@pytest.fixture
def begun(third, command):
    """Return a function that starts a run in the folder ``run``, and waits until all three machines generate load."""

    def begun(duration):
        clients = ("--clients", f"{third.second},{third.third}")
        process = third.start(*command(third, duration, *clients, "--ignore-busy", interleave="false"))
        wait_for(lambda: process.poll() is not None or len(carrying(third)) == 3, "no load")
        assert process.poll() is None, process.communicate()[1]
        return process

    return begun


def test_run_resumes_after_network_loss(third, begun, folder):
    process = begun("8s")
    third.cable_of_second("down")
    try:
        _, errors = process.communicate(timeout=2 * WITHIN_S)
        assert process.returncode == 1
        assert "Traceback" not in errors
        before = trials(folder)
        assert {one["status"] for one in before} == {"invalid"}
        assert third.second in before[0]["log"]
        third.wait_until_nothing_runs_anywhere()
    finally:
        third.cable_of_second("up")
    _, _, errors = third.run("run", "--resume", folder, "--ignore-busy")
    assert len(trials(folder)) > len(before), errors
    assert trials(folder)[-1]["result"]["ok"] == trials(folder)[-1]["result"]["planned"] >= 400
    third.wait_until_nothing_runs_anywhere()


def scanned(machine, address):
    """Return the ports of an address to which a machine can connect."""
    command = ["nsenter", f"--net=/proc/{machine}/ns/net", "--", sys.executable, "-c", SCAN, address]
    return [*map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())]


def listening(machine):
    """Return the addresses (except loopback) and ports on which a machine's processes listen."""
    asked = ["nsenter", f"--net=/proc/{machine}/ns/net", "--", "ss", "-Hltn"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {tuple(line.split()[3].rsplit(":", 1)) for line in lines}
    return {(address, int(port)) for address, port in found if not address.strip("[]").startswith(("127.", "::1"))}


def test_only_servers_with_sshd_are_reachable(third, begun):
    process = begun("120s")
    port = int(os.environ.get("PORT", "8000"))
    assert listening(third.client) == set()
    assert listening(third.server) == {(SERVER, 22), (SERVER, port)}
    for machine, (near, far) in zip(third.machines[1:], FURTHER.values(), strict=True):
        assert listening(machine) == {(far, 22)}
        assert scanned(third.client, far) == [22]
        assert scanned(machine, near) == []
    assert scanned(third.client, SERVER) == [22, port]
    assert scanned(third.server, CLIENT) == []
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    third.wait_until_nothing_runs_anywhere()
