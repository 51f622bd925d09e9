"""Further clients, or workers that come by themselves, in network namespaces: what becomes of a run when one of them,
the master, the harness or a cable is gone, who else is heard, and what can be reached."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from loadtests.files import ROOT
from loadtests.hosts import wire
from tests.engines.test_cluster import STRANGER
from tests.fixtures.other_machine import trials
from tests.fixtures.two_machines import CLIENT, FURTHER, SECOND, SERVER
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(500)]

STUDY = """
title = "One setup, asked by several machines"
setups = ["gunicorn"]
blocks = 1
interleave = false
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
WITHIN_S = 60
TOKEN = "0123456789abcdef-of-the-tests"
MASTER_PORT = 5557
# Prints the ports of an address that answer.
SCAN = """
import socket, sys
for port in range(1, 65_536):
    with socket.socket() as one:
        one.settimeout(5)
        if one.connect_ex((sys.argv[1], port)) == 0:
            print(port)
"""


@pytest.fixture
def begun(third, study, tmp_path):
    """A function: starts a run with both further clients, once all three make the load; gives it and its folder."""

    def begun(duration="8s"):
        folder = tmp_path / "run"
        hosts = ("--servers", third.where, "--clients", f"{third.second},{third.third}")
        process = third.start("run", study(duration=duration), *hosts, "--output", folder, "--anyway")
        wait_for(lambda: process.poll() is not None or len(carrying(third)) == 3, "no load")
        assert process.poll() is None, process.communicate()[1]
        return process, folder

    return begun


def of_module(processes, module):
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            found += [process] if any(module in word for word in process.cmdline()) else []
    return found


def carrying(machines):
    """The workers whose generators are there, first those of other machines."""
    found = []
    for worker in of_module([*machines.running_there(), *machines.running_here()], "worker"):
        with contextlib.suppress(psutil.Error):
            found += [worker] if any(child.name() == "node" for child in worker.children()) else []
    return found


def resumed(machines, folder):
    """How many requests of the last trial were answered, once the run has gone on."""
    before = len(trials(folder))
    _, _, errors = machines.run("run", "--resume", folder, "--anyway")
    assert len(trials(folder)) > before, errors
    machines.wait_until_nothing_runs_anywhere()
    return trials(folder)[-1]["result"]["ok"]


def test_a_loss_is_noticed_within_fifteen_seconds():
    asked = "from loadtests.cluster import master; print(master.BEATS + 2 * master.LOOK_EVERY_S)"  # loads gevent
    beats_s = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert max(wire.SILENCE_S, float(beats_s)) < 15
    assert wire.ALIVE_INTERVAL_S * (wire.ALIVE_COUNT + 1) < 15  # of ssh


@pytest.mark.parametrize("who", ["worker", "master"])
def test_one_that_is_killed_costs_a_trial(third, begun, who):
    process, folder = begun()
    killed = carrying(third)[0] if who == "worker" else of_module(third.running_here(), "loadtests.cluster.master")[0]
    killed.kill()
    _, errors = process.communicate(timeout=2 * WITHIN_S)
    first, again = trials(folder)
    assert "engine_failed" in [flag["reason"] for flag in first["flags"]], errors
    assert first["result"] is None
    assert again["result"]["planned"] == again["result"]["ok"] == 400
    third.wait_until_nothing_runs_anywhere()


def test_a_harness_that_is_killed_leaves_nothing_and_its_run_goes_on(third, begun):
    process, folder = begun()
    process.kill()
    process.communicate()
    third.wait_until_nothing_runs_anywhere()
    assert trials(folder) == []
    assert resumed(third, folder) == 400


def test_a_cable_that_stays_out_ends_the_run_which_goes_on_later(third, begun):
    process, folder = begun()
    third.cable_of_second("down")
    try:
        _, errors = process.communicate(timeout=2 * WITHIN_S)
        assert process.returncode == 1
        assert "Traceback" not in errors
        assert {one["status"] for one in trials(folder)} == {"invalid"}
        assert third.second in trials(folder)[0]["log"]
        third.wait_until_nothing_runs_anywhere()
    finally:
        third.cable_of_second("up")
    assert resumed(third, folder) == 400


def test_one_with_other_files_ends_the_run_before_it_begins(third, study, tmp_path):
    file = third.folder / f"home-of-{SECOND}" / ".django-serving-benchmark" / "tree" / "loadtests" / "cli.py"
    before = file.read_text()
    file.write_text(f"{before}\n")
    hosts = ("--servers", third.where, "--clients", f"{third.second},{third.third}")
    try:
        code, _, errors = third.run("run", study(duration="1s"), *hosts, "--output", tmp_path / "run", "--anyway")
    finally:
        file.write_text(before)
    assert code == 1
    assert f"{third.second} does not have what is here: loadtests/cli.py; bring it" in errors
    third.wait_until_nothing_runs_anywhere()
    assert not (tmp_path / "run").exists()


def scanned(machine, address):
    """The ports of an address that a machine reaches."""
    command = ["nsenter", f"--net=/proc/{machine}/ns/net", "--", sys.executable, "-c", SCAN, address]
    return [*map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())]


def listening(machine):
    """The addresses that processes of a machine listen on, but for loopback, and their ports."""
    asked = ["nsenter", f"--net=/proc/{machine}/ns/net", "--", "ss", "-Hltn"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {tuple(line.split()[3].rsplit(":", 1)) for line in lines}
    return {(address, int(port)) for address, port in found if not address.strip("[]").startswith(("127.", "::1"))}


def test_only_the_servers_and_sshd_can_be_reached(third, begun):
    process, _ = begun("120s")
    port = int(os.environ.get("PORT", "8000"))
    second, third_client = third.machines[1:]
    assert listening(third.client) == set()
    assert listening(third.server) == {(SERVER, 22), (SERVER, port)}
    for machine, (near, far) in zip((second, third_client), FURTHER.values(), strict=True):
        assert listening(machine) == {(far, 22)}
        assert scanned(third.client, far) == [22]
        assert scanned(machine, near) == []
    assert scanned(third.client, SERVER) == [22, port]
    assert scanned(third.server, CLIENT) == []
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    third.wait_until_nothing_runs_anywhere()


@pytest.fixture
def joining(third):
    """A function: starts a command on a further client, without SSH."""
    started = []

    def joining(name, *command):
        machine = third.machines[1 + list(FURTHER).index(name)]
        env = {**os.environ, "LOAD_TOKEN": TOKEN, "TEST_MARK": third.mark_here}
        process = subprocess.Popen(
            ["nsenter", f"--net=/proc/{machine}/ns/net", "--", sys.executable, *command],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield joining
    for process in started:
        process.kill()
        process.communicate()


def test_of_those_that_come_over_the_network_the_expected_make_the_load(third, joining, study, tmp_path, monkeypatch):
    monkeypatch.setenv("BIND", CLIENT)
    monkeypatch.setenv("LOAD_TOKEN", TOKEN)
    folder = tmp_path / "run"
    expects = ("--expect-workers", "2", "--master-bind", f"{CLIENT}:{MASTER_PORT}")
    run = third.start("run", study(duration="20s"), *expects, "--output", folder, "--anyway")
    way = ("-m", "loadtests", "worker", f"{CLIENT}:{MASTER_PORT}")
    workers = [joining(name, *way) for name in FURTHER]
    wait_for(lambda: run.poll() is not None or len(carrying(third)) == 2, "no load")
    assert run.poll() is None, run.communicate()[1]
    late = joining("second", *way)
    assert "takes part in the run" in late.stderr.readline()
    stranger = STRANGER.replace("127.0.0.1", CLIENT)
    assert joining("third", "-c", stranger, str(MASTER_PORT)).communicate(timeout=WITHIN_S)[0].split() == ["0"]
    assert len(carrying(third)) == 2
    _, errors = run.communicate(timeout=2 * WITHIN_S)
    assert [one.wait(WITHIN_S) for one in (*workers, late)] == [0, 0, 0], errors
    [trial] = trials(folder)
    assert trial["result"]["planned"] == trial["result"]["ok"] == 1000
    assert [one["planned"] for one in trial["result"]["generator"]] == [500, 500]
    assert TOKEN not in json.dumps(trial)
    third.wait_until_nothing_runs_anywhere()
