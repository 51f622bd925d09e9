"""Test a load from several machines with the command line. The machines share a schedule and a start time."""

import signal

import pytest

from tests.fixtures.other_machine import OtherMachine, running, trials, with_children
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, asked from two machines"
setups = ["{setup}"]
blocks = 1
interleave = {interleave}
[tests.asked]
warmup = "500ms"
{test}
"""
DEFAULTS = {"setup": "gunicorn", "interleave": "false"}
LATENCY = 'rate = 100\nkind = "latency"\nduration = "{}"'
USERS = 'kind = "journey"\n{}\nthink = ["10ms", "30ms"]\nduration = "3s"'
ROOMS = 'kind = "broadcast"\nrate = 60\nreceivers = 12\nrooms = 6\nduration = "2s"'
USERS_SEARCH = """
kind = "journey-capacity"
think = ["10ms", "30ms"]
start_rate = 1
max_rate = 3
probe = "2s"
confirm = "3s"
"""
OWN = """
from loadtests.journeys.base import Journey
class Own(Journey):
    def walk(self):
        self.get("/", "front")
        self.think()
"""
WORKER, MASTER = "loadtests.cluster.worker", "loadtests.cluster.master"
PREPARED = (OtherMachine.where, OtherMachine.second)
HOSTS = ("--servers", OtherMachine.where, "--clients", OtherMachine.second)
WITHIN_S = 60


def apart(cli):
    """Return the workers that generate load on the other machine."""
    return [one for one in with_children(running(cli, WORKER)) if "home-of-second" in one.cwd()]


@pytest.fixture
def begun(away, study, folder):
    """Return a function that starts a run of a given duration and waits for its load."""

    def begun(duration):
        process = away.start("run", study(test=LATENCY.format(duration)), *HOSTS, "--output", folder, "--ignore-busy")
        wait_for(lambda: (folder / "run.json").exists() and apart(away), "no load")
        return process

    return begun


@pytest.mark.parametrize("interleave", ["true", "false"], ids=["interleaved", "in one piece"])
def test_two_clients_share_one_schedule(measured, folder, interleave):
    printed, record, found = measured(*HOSTS, test=LATENCY.format("2s"), interleave=interleave)
    assert f" on {OtherMachine.second} (" in " ".join(printed.split())
    [client] = record["clients"]
    assert (client["address"], client["same_machine"]) == (OtherMachine.second, True)
    assert client["round_trip_ms"] > 0
    assert abs(client["clock_ahead_ms"]) <= client["clock_uncertainty_ms"] + 0.1  # both machines have the same clock
    result = found[0]["result"]
    planned = result["planned"]
    assert planned == result["sent"] == result["ok"]
    assert planned == 200 or (interleave == "true" and planned > 200)  # the server's pauses make slices longer
    here, there = (one["planned"] for one in result["generator"])
    assert here + there == planned
    assert abs(here - there) <= 8  # each machine sends every second request of a slice
    assert all(one["p50_ms"] > 0 for one in result["generator"])
    page = (folder / "report.html").read_text()
    assert f"; load on {OtherMachine.second} (" in page


@pytest.mark.parametrize(
    "who",
    ["rate = 4", "users = 4\njourney = 'own.py'"],
    ids=["new ones", "the user's own journey"],
)
def test_users_come_from_two_machines(measured, tmp_path, who):
    (tmp_path / "own.py").write_text(OWN)
    _, _, found = measured(*HOSTS, "--seed", "7", test=USERS.format(who))
    result = found[0]["result"]
    seen = result["journeys"]
    if who == "rate = 4":
        came = seen["completed"] + seen["under_way_last"] - seen["under_way_first"]
        assert (came, seen["broken_off"]) == (12, 0)  # the users who arrived in the measured time
    else:
        assert seen["completed"] > 0
    assert result["ok"] == result["planned"] > 0
    assert [one["machine"] for one in result["generator"]] == ["", ""]  # the fake ssh program uses this machine
    here, there = (one["planned"] for one in result["generator"])
    assert here + there == result["planned"]
    assert min(here, there) > 0
    assert sum(row["completed"] for row in result["timeline"]) == result["completed"]


def test_users_search_uses_two_machines(measured):
    trial = measured(*HOSTS, test=USERS_SEARCH)[2][0]
    probes = trial["capacity"]["probes"]
    # The first step has one user, which one of the processes runs.
    assert probes[0]["rate"] == 1
    assert all(probe["ok"] > 0 for probe in probes if probe["outcome"] == "pass")
    assert trial["evidence"]["engine_failed"] is None


def test_rooms_are_shared_by_two_machines(measured):
    result = measured(*HOSTS, test=ROOMS, setup="uvicorn-channels")[2][0]["result"]
    counted = ("expected", "delivered", "missing", "duplicate", "reordered", "stray", "messages", "whole")
    assert (result["planned"], result["sent"], result["ok"]) == (120, 120, 120)
    assert [result["deliveries"][name] for name in counted] == [240, 240, 0, 0, 0, 0, 120, 120]
    assert result["connections"]["opened"] == result["connections"]["requested"] == 18
    here, there = (one["planned"] for one in result["generator"])
    assert abs(here - there) <= 8  # each machine publishes in half of the rooms


@pytest.mark.parametrize("module", [WORKER, MASTER])
def test_lost_client_invalidates_one_trial(away, begun, folder, module):
    process = begun("4s")
    wait_for(lambda: apart(away) if module == WORKER else running(away, MASTER), "no load")[0].kill()
    _, errors = process.communicate(timeout=2 * WITHIN_S)
    away.wait_until_nothing_runs()
    assert len(trials(folder)) == 2, errors
    first, second = trials(folder)
    assert "engine_failed" in [flag["reason"] for flag in first["flags"]]
    assert first["result"] is None
    assert module == MASTER or f"{OtherMachine.second}: " in first["log"]
    assert second["result"]["ok"] == second["result"]["planned"] >= 400


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_workers_end_with_the_harness(away, begun, folder, number, status):
    process = begun("60s")
    process.send_signal(number)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == status
    assert "Traceback" not in errors
    away.wait_until_nothing_runs()
    assert trials(folder) == []


def test_worker_with_other_files_is_refused(away, study, machines, changed):
    tree = machines.folder / "home-of-second" / ".django-serving-benchmark" / "tree"
    with changed(tree / "loadtests" / "cli.py"):
        code, _, errors = away.run("run", study(test=LATENCY.format("1s")), *HOSTS)
    assert code == 1
    assert f"{OtherMachine.second}: files differ from this machine's: loadtests/cli.py. Copy them" in errors


ELSEWHERE = ("--servers", OtherMachine.where)
ONCE = "all clients and the servers must be"


@pytest.mark.parametrize(
    ("test", "options", "says"),
    [
        (
            LATENCY,
            [*ELSEWHERE, "--clients", "b"],
            "--clients: 'b' is not an SSH address. Write ssh://user@host or ssh://a,ssh://b",
        ),
        (LATENCY, [*ELSEWHERE, "--clients", OtherMachine.where], ONCE),
        (f'engine = "loadtest"\n{LATENCY}', HOSTS, "asked: the engine loadtest only generates load on this machine"),
        (
            USERS.format("users = 4\ninjectors = 2"),
            HOSTS,
            "asked: with --clients, each machine uses one injector",
        ),
    ],
)
def test_unsupported_load_on_clients_is_refused(away, study, folder, test, options, says):
    code, _, errors = away.run("run", study(test=test.format("1s")), *options, "--output", folder)
    assert code == 1
    assert says in errors
    assert not folder.exists()


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("servers = 'ssh://a'", ("--servers", "ssh://a"), "contains all hosts. Leave out --servers and --clients"),
        ("server = 'ssh://a'", (), "server: is not a known key. Did you mean servers? Allowed: clients, servers"),
        ("clients = ['ssh://a']", (), "--clients only works with servers on another machine. Add --"),
    ],
)
def test_wrong_hosts_file_is_reported(refused, tmp_path, text, options, says):
    (tmp_path / "hosts.toml").write_text(text)
    assert says in refused("run", "first-look", "--hosts", tmp_path / "hosts.toml", *options)


def test_hosts_file_names_all_machines(away, measured, tmp_path):
    file = tmp_path / "hosts.toml"
    file.write_text(f'servers = "{OtherMachine.where}"\nclients = ["{OtherMachine.second}"]\n')
    code, printed, errors = away.run("hosts", "check", file)
    assert code == 0, errors
    assert f"{OtherMachine.second} (clients)" in printed
    _, record, _ = measured("--hosts", file, test=LATENCY.format("1s"))
    assert record["servers"]["address"] == OtherMachine.where
    assert [one["address"] for one in record["clients"]] == [OtherMachine.second]
