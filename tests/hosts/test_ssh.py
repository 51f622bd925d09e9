"""A run whose servers are on another machine, from the command line: what it leaves behind, here and there."""

import json
import os
import signal
import socket

import psutil
import pytest

from tests.fixtures.other_machine import VENV, OtherMachine, running, trials
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, somewhere else"
setups = ["gunicorn"]
blocks = 1
[tests.latency]
rate = 50
duration = "500ms"
warmup = "100ms"
"""
PREPARED = (OtherMachine.where,)
LONG = STUDY.replace("500ms", "60s")
WITHIN_S = 60


def written(tmp_path, text):
    file = tmp_path / "study.toml"
    file.write_text(text)
    return file


def measuring(cli, folder):
    """Whether the first trial is under way, on a server that is up."""
    if not (folder / "run.json").exists():
        return False
    names = []
    for process in cli.processes():
        try:
            names.append(process.name())
        except psutil.NoSuchProcess:
            continue
    return "node" in " ".join(names) and "gunicorn" in " ".join(names)


def test_prepare_brings_what_git_has_and_leaves_a_marker(machines):
    tree = machines.files / "tree"
    assert (tree / "loadtests" / "cli.py").is_file()
    assert (tree / "supervisor" / "conf.d" / "gunicorn.conf").is_file()
    assert not (tree / "results").exists()
    assert (tree / "packages" / "channels-ipc" / "README.md").is_file()  # pip builds no package without
    marker = json.loads((machines.files / "marker.json").read_text())
    assert len(marker["token"]) == 32
    assert (machines.files / "marker.json").stat().st_mode & 0o077 == 0
    assert machines.files.stat().st_mode & 0o777 == 0o700  # the shell there hides nothing from anybody (umask 000)
    assert (
        f"{machines.where} is prepared; look at it: python -m loadtests hosts check {machines.where}"
        in machines.printed
    )
    assert "the same versions of all packages" in machines.printed


def test_check_says_how_the_machine_and_the_way_to_it_are(away, machines):
    code, printed, errors = away.run("hosts", "check", machines.where)
    assert code == 0, errors
    assert "is this very machine" in printed
    assert "a bare answer takes" in printed
    assert "its clock is" in printed
    assert "there: " in printed
    away.wait_until_nothing_runs()


def test_servers_that_have_a_machine_for_themselves_have_all_of_its_cores(at_hand, machines, monkeypatch):
    monkeypatch.setattr("loadtests.hosts.ssh.boot", lambda: "of another machine")
    code, printed, errors = at_hand("hosts", "check", machines.where)
    assert code == 0, errors
    assert "is this very machine" not in printed
    cores = len(os.sched_getaffinity(0))
    assert f"{cores} core{'s' * (cores > 1)} there for the servers" in printed


def test_a_run_says_what_ran_where(away, machines, tmp_path):
    folder = tmp_path / "run"
    code, printed, errors = away.run(
        "run", written(tmp_path, STUDY), "--servers", machines.where, "--output", folder, "--anyway"
    )
    away.wait_until_nothing_runs()
    assert f"note: {machines.where} is this very machine" in printed, errors
    assert f"Servers on {machines.where} (" in " ".join(printed.split())
    about = json.loads((folder / "run.json").read_text())
    servers = about["servers"]
    assert servers["address"] == machines.where
    assert servers["listens_on"] == "127.0.0.1"
    assert servers["round_trip_ms"] > 0
    assert servers["megabits_per_s"] > 0
    assert servers["git"] == about["git"]
    assert servers["generator"]["cpu"] == about["machine"]["cpu"]
    [trial] = [trial for trial in trials(folder) if trial["attempt"] == 1]
    assert trial["result"]["ok"] == 25
    uncharged = {row["role"] for row in trial["processes"] if not row["charged"]}
    assert "agent" in uncharged
    assert {row["role"] for row in trial["processes"] if row["charged"]} == {"web"}
    assert code == 0, errors  # also where the figures are unverified, on a machine that is busy with other tests
    assert f"The servers ran on {machines.where}" in (folder / "report.html").read_text()


@pytest.mark.exhaustive
def test_ctrl_c_ends_all_there_and_the_run_can_be_resumed(away, at_hand, machines, tmp_path):
    folder = tmp_path / "run"
    process = away.start("run", written(tmp_path, LONG), "--servers", machines.where, "--output", folder)
    wait_for(lambda: measuring(away, folder), "no load")
    # Meanwhile nothing is prepared there: the files are those of the run.
    code, _, errors = at_hand("hosts", "prepare", machines.where, "--venv", VENV)
    assert code == 1
    assert errors.endswith(f"error: {machines.where}: a run is going on there; wait for its end\n")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert f"go on with: python -m loadtests run --resume {folder}" in errors
    away.wait_until_nothing_runs()
    about = json.loads((folder / "run.json").read_text())
    about["study"]["tests"][0]["duration_s"] = 0.5
    (folder / "run.json").write_text(json.dumps(about))
    away.run("run", "--resume", folder, "--anyway")
    away.wait_until_nothing_runs()
    assert trials(folder)[0]["result"]["ok"] == 25


def test_nothing_is_left_there_when_the_harness_is_killed(away, machines, tmp_path):
    folder = tmp_path / "run"
    process = away.start("run", written(tmp_path, LONG), "--servers", machines.where, "--output", folder)
    wait_for(lambda: measuring(away, folder), "no load")
    process.kill()
    process.communicate()
    away.wait_until_nothing_runs()


@pytest.mark.exhaustive
def test_a_connection_that_is_lost_costs_the_trial_and_not_the_run(away, machines, tmp_path):
    """The agent is killed, too: what it started is gone all the same."""
    folder = tmp_path / "run"
    study = written(tmp_path, STUDY.replace("500ms", "4s"))
    process = away.start("run", study, "--servers", machines.where, "--output", folder, "--anyway")
    wait_for(lambda: measuring(away, folder), "no load")
    [agent] = running(away, "loadtests.hosts.agent.main")
    agent.kill()
    process.communicate(timeout=3 * WITHIN_S)
    away.wait_until_nothing_runs()
    first, second = trials(folder)
    assert [flag["reason"] for flag in first["flags"] if flag["severity"] == "invalid"] == ["connection_lost"]
    assert f"the connection to {machines.where} was lost" in first["log"]
    assert first["result"] is None
    assert second["attempt"] == 2
    assert second["result"]["ok"] == 200


def test_a_file_that_is_not_as_here_is_named_before_anything_is_started(at_hand, machines, tmp_path):
    changed = machines.files / "tree" / "supervisor" / "conf.d" / "gunicorn.conf"
    before = changed.read_text()
    changed.write_text(before + "\n; another line\n")
    try:
        code, _, errors = at_hand("run", written(tmp_path, STUDY), "--servers", machines.where)
    finally:
        changed.write_text(before)
    assert code == 1
    assert errors == (
        f"error: {machines.where} does not have what is here: supervisor/conf.d/gunicorn.conf; bring it: "
        f"loadtests hosts prepare {machines.where}\n"
    )


@pytest.mark.exhaustive
def test_a_port_that_is_taken_there_is_named(away, machines, tmp_path):
    with socket.create_server(("127.0.0.1", int(away.env["PORT"]))):
        code, _, errors = away.run("run", written(tmp_path, STUDY), "--servers", machines.where)
    assert code == 1
    assert errors.startswith(f"error: {machines.where}: port {away.env['PORT']} is taken by ")
    assert f"pid {os.getpid()}" in errors


def test_bind_is_for_this_machine_only(at_hand, machines, tmp_path, monkeypatch):
    monkeypatch.setenv("BIND", "127.0.0.1")
    code, _, errors = at_hand("run", written(tmp_path, STUDY), "--servers", machines.where)
    assert code == 1
    assert errors.startswith("error: BIND is for servers on this machine; on another they listen where SSH came to")


def test_an_ipv4_mapped_address_is_ipv4(at_hand, machines, monkeypatch):
    monkeypatch.setenv("CAME_BY", "::ffff:127.0.0.1 40000 ::ffff:127.0.0.1 22")
    code, printed, errors = at_hand("hosts", "check", machines.where)
    assert code == 0, errors
    assert "a bare answer takes" in printed


def test_an_ipv6_address_without_an_ipv4_one_on_its_interface_is_refused(at_hand, machines, monkeypatch):
    monkeypatch.setenv("CAME_BY", "2001:db8::1 40000 2001:db8::2 22")
    code, _, errors = at_hand("hosts", "check", machines.where)
    assert code == 1
    assert errors.endswith(
        f"error: {machines.where}: SSH came to 2001:db8::2, and not every server can listen on an IPv6 "
        "address; name the host by an IPv4 address\n"
    )


@pytest.mark.exhaustive
def test_an_address_that_is_not_the_hosts_gets_no_load(away, machines, tmp_path):
    """192.0.2.1 is for documentation (RFC 5737), and nobody's."""
    away.env["CAME_BY"] = "127.0.0.1 40000 192.0.2.1 22"
    code, _, errors = away.run("run", written(tmp_path, STUDY), "--servers", machines.where)
    assert code == 1
    assert errors.startswith(f"error: {machines.where}: nothing can listen on 192.0.2.1:")
    assert errors.endswith("; with --allow-remote load goes there all the same\n")
