"""Test runs over a real network and a real ssh.

The machines are network namespaces, which are connected by virtual cables.
"""

import json
import os
import signal
import subprocess

import pytest

from tests.fixtures.changed_machines import of_their_own
from tests.fixtures.other_machine import trials
from tests.fixtures.two_machines import FURTHER, SERVER
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow, pytest.mark.timeout(500)]

STUDY = """
title = "One setup, on the other machine"
setups = [{setup}]
blocks = 1
[tests.latency]
rate = 50
duration = "{duration}"
warmup = "100ms"
"""
DEFAULTS = {"setup": '"gunicorn"'}
WITHIN_S = 60


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
    result = first["result"]
    assert result["ok"] == result["planned"] >= 50  # pauses of the server make slices longer
    assert result["handshakes"]["full"] > result["handshakes"]["resumed"] == 0
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


def test_disconnected_client_invalidates_one_trial(second, command, folder):
    process = second.start(*command(second, "4s", "--clients", second.second, "--ignore-busy"))
    wait_for(lambda: (folder / "run.json").exists() and second.generates(), "no load")
    second.cable_of_second("down")
    try:
        wait_for(lambda: trials(folder), "no trial")
    finally:
        second.cable_of_second("up")
    process.communicate(timeout=3 * WITHIN_S)
    first, again = trials(folder)
    assert "engine_failed" in [flag["reason"] for flag in first["flags"]]
    assert again["result"]["ok"] == again["result"]["planned"] >= 200
    second.wait_until_nothing_runs_anywhere()


def test_events_on_other_machines_are_recorded(second, command, folder):
    with of_their_own(second):
        _, _, errors = second.run(*command(second, "1s", "--clients", second.second, "--ignore-busy"))
    assert trials(folder), errors
    evidence = trials(folder)[0]["evidence"]
    seen = {one["machine"]: one for one in evidence["other_hosts"]}
    assert set(seen) == {"", second.second}, errors
    for one in seen.values():
        assert one["other_load"] >= 0
        assert all(seconds > 0 for seconds in one["calibration_s"])
        assert len(one["calibration_s"]) == len(evidence["calibration_s"]) > 0
    [client] = json.loads((folder / "run.json").read_text())["clients"]
    assert not client["same_machine"]


def test_alias_of_machine_is_refused(second, command):
    with of_their_own(second, names=1):
        code, _, errors = second.run(*command(second, "1s", "--clients", second.second))
    assert code == 1
    assert "ssh://second and ssh://server are the same machine" in errors


def listening(machine):
    """Return the addresses (except loopback) and ports on which a machine's processes listen."""
    asked = ["nsenter", f"--net=/proc/{machine}/ns/net", "--", "ss", "-Hltn"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {tuple(line.split()[3].rsplit(":", 1)) for line in lines}
    return {(address, int(port)) for address, port in found if not address.strip("[]").startswith(("127.", "::1"))}


def test_only_servers_with_sshd_are_reachable(second, command, folder):
    process = second.start(*command(second, "120s", "--clients", second.second, "--ignore-busy"))
    wait_for(lambda: second.measures(folder) and second.generates(), "no load")
    port = int(os.environ.get("PORT", "8000"))
    assert listening(second.client) == set()
    assert listening(second.server) == {(SERVER, 22), (SERVER, port)}
    assert listening(second.machines[1]) == {(FURTHER[1], 22)}
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    second.wait_until_nothing_runs_anywhere()
