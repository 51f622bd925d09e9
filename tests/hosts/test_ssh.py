"""Test runs with servers on another machine, and the files and processes that remain on both machines."""

import json
import os
import signal
import socket

import psutil
import pytest

from tests.fixtures.other_machine import VENV, OtherMachine, running, trials
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, somewhere else"
setups = ["gunicorn"]
blocks = 1
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
DEFAULTS = {"duration": "500ms"}
PREPARED = (OtherMachine.where,)
WITHIN_S = 60


@pytest.fixture
def begun(away, machines, study, folder):
    """Return a function that starts a run of a given duration and waits for the load of its first trial."""

    def begun(duration, *options):
        hosts = ("--servers", machines.where, "--output", folder)
        process = away.start("run", study(duration=duration), *hosts, *options)
        wait_for(lambda: (folder / "run.json").exists() and {"node", "gunicorn"} <= names(away), "no load")
        return process

    return begun


def names(cli):
    """Return the processes that a command started."""
    found = set()
    for process in cli.processes():
        try:
            found.add(process.name())
        except psutil.NoSuchProcess:
            continue
    return found


def test_prepare_copies_files_and_marker(machines):
    tree = machines.files / "tree"
    assert (tree / "loadtests" / "cli.py").is_file()
    assert (tree / "supervisor" / "conf.d" / "gunicorn.conf").is_file()
    assert not (tree / "results").exists()
    assert (tree / "packages" / "channels-ipc" / "README.md").is_file()  # pip needs this file to build packages
    marker = json.loads((machines.files / "marker.json").read_text())
    assert len(marker["token"]) == 32
    assert (machines.files / "marker.json").stat().st_mode & 0o077 == 0
    assert machines.files.stat().st_mode & 0o777 == 0o700  # although the remote shell's umask is 000


def test_check_describes_machine_and_network(away, machines):
    away.env["CAME_BY"] = "::ffff:127.0.0.1 40000 ::ffff:127.0.0.1 22"  # an IPv4 address in IPv6 notation
    code, printed, errors = away.run("hosts", "check", machines.where)
    assert code == 0, errors
    said = ("is this machine", "an empty answer takes", "a long answer arrives at", "on the host: ")
    assert [words for words in said if words not in printed] == []
    away.wait_until_nothing_runs()


def test_run_records_its_hosts(measured, machines, folder):
    printed, about, found = measured("--servers", machines.where)
    assert f"note: {machines.where} is this machine" in printed
    assert f"Servers on {machines.where} (" in printed
    servers = about["servers"]
    assert (servers["address"], servers["listens_on"]) == (machines.where, "127.0.0.1")
    assert servers["round_trip_ms"] > 0
    assert servers["megabits_per_s"] > 0
    assert servers["git"] == about["git"]
    assert servers["generator"]["cpu"] == about["machine"]["cpu"]
    [trial] = [trial for trial in found if trial["attempt"] == 1]
    assert trial["result"]["ok"] == trial["result"]["planned"] >= 25
    uncharged = {row["role"] for row in trial["processes"] if not row["charged"]}
    assert "agent" in uncharged
    assert {row["role"] for row in trial["processes"] if row["charged"]} == {"web"}
    assert f"Servers on {machines.where} (" in (folder / "report.html").read_text()


def test_interrupted_remote_run_can_resume(away, at_hand, machines, begun, folder):
    process = begun("60s")
    # `hosts prepare` doesn't change the files during a run.
    code, _, errors = at_hand("hosts", "prepare", machines.where, "--venv", VENV)
    assert code == 1
    assert errors.endswith(f"error: {machines.where}: another run is using the machine. Wait until it ends\n")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert f"continue with: python -m loadtests run --resume {folder}" in errors
    away.wait_until_nothing_runs()
    about = json.loads((folder / "run.json").read_text())
    about["study"]["tests"][0]["duration_s"] = 0.5
    (folder / "run.json").write_text(json.dumps(about))
    away.run("run", "--resume", folder, "--ignore-busy")
    away.wait_until_nothing_runs()
    result = trials(folder)[0]["result"]
    assert result["ok"] == result["planned"] >= 25


def test_killed_harness_leaves_nothing_remote(away, begun):
    process = begun("60s")
    process.kill()
    process.communicate()
    away.wait_until_nothing_runs()


def test_lost_connection_invalidates_one_trial(away, machines, begun, folder):
    """The agent's processes end, even if the agent is killed."""
    process = begun("4s", "--ignore-busy")
    [agent] = running(away, "loadtests.hosts.agent.main")
    agent.kill()
    process.communicate(timeout=3 * WITHIN_S)
    away.wait_until_nothing_runs()
    first, second = trials(folder)
    assert [flag["reason"] for flag in first["flags"] if flag["severity"] == "invalid"] == ["connection_lost"]
    assert f"the connection to {machines.where} was lost" in first["log"]
    assert first["result"] is None
    assert second["attempt"] == 2
    assert second["result"]["ok"] == second["result"]["planned"] >= 200  # the server's pauses make slices longer


def test_changed_remote_file_is_reported_early(at_hand, machines, study, changed):
    with changed(machines.files / "tree" / "supervisor" / "conf.d" / "gunicorn.conf"):
        code, _, errors = at_hand("run", study(), "--servers", machines.where)
    assert code == 1
    assert f"{machines.where}: files differ from this machine's: supervisor/conf.d/gunicorn.conf. Copy them" in errors


def test_taken_remote_port_is_reported(away, machines, study):
    port = away.env["PORT"]
    with socket.create_server(("127.0.0.1", int(port))):
        code, _, errors = away.run("run", study(), "--servers", machines.where)
    assert code == 1
    assert errors.startswith(f"error: {machines.where}: port {port} is used by ")
    assert f"pid {os.getpid()}" in errors


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("BIND", "127.0.0.1", "BIND only works for servers on this machine. Unset BIND"),
        (
            "CAME_BY",
            "2001:db8::1 40000 2001:db8::2 22",
            "SSH connected to 2001:db8::2, but not every server can listen on an",
        ),
        # This address is reserved for documentation (RFC 5737).
        ("CAME_BY", "127.0.0.1 40000 192.0.2.1 22", "that machine can't listen on 192.0.2.1:"),
    ],
)
def test_unusable_address_gets_no_load(away, study, variable, value, says):
    away.env[variable] = value
    code, _, errors = away.run("run", study(), "--servers", OtherMachine.where)
    assert (code, errors.count("\n")) == (1, 1)
    assert says in errors
    assert errors.endswith("To send load to it anyway, add --allow-remote\n") == ("192.0.2.1" in value)
