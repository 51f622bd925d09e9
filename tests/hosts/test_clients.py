"""A load that comes from several machines, from the command line: one schedule, begun at one moment."""

import fcntl
import json
import signal
import subprocess

import pytest

from loadtests.files import ROOT
from tests.fixtures.other_machine import VENV, OtherMachine, running, trials, with_children
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.timeout(300)]

STUDY = """
title = "One setup, asked from two machines"
setups = ["gunicorn"]
blocks = 1
interleave = {interleave}
[tests.latency]
rate = 100
duration = "{duration}"
warmup = "100ms"
"""
USERS = """
title = "Users, who come from two machines"
setups = ["gunicorn"]
blocks = 1
[tests.users]
kind = "journey"
{users}
think = ["10ms", "30ms"]
warmup = "500ms"
duration = "3s"
{more}
"""
OWN = """
from loadtests.journeys.base import Journey
class Own(Journey):
    def walk(self):
        self.get("/", "front")
        self.think()
"""
SEARCH = """
title = "How many users two machines find"
setups = ["gunicorn"]
blocks = 1
[tests.most]
kind = "journey-capacity"
think = ["10ms", "30ms"]
start_rate = 1
max_rate = 3
warmup = "500ms"
probe = "2s"
confirm = "3s"
"""
# As it is started there, but that it waits for neither long.
IMPATIENT = """
from loadtests.cluster import worker
worker.FREE_WITHIN_S, worker.REACHED_WITHIN_S = 0.5, 1
worker.main()
"""
WORKER = "loadtests.cluster.worker"
PREPARED = (OtherMachine.where, OtherMachine.second)
TREE = ".django-serving-benchmark/tree"
WITHIN_S = 60


def is_apart(process):
    """Whether a worker is that of another machine."""
    return "home-of-second" in process.cwd()


@pytest.fixture(scope="module", autouse=True)
def node_modules(machines):
    (machines.folder / "home-of-second" / TREE / "node_modules").symlink_to(ROOT / "node_modules")  # of `make setup`


@pytest.mark.parametrize("interleave", ["true", "false"], ids=["interleaved", "in one piece"])
def test_two_clients_send_one_schedule(away, machines, study, tmp_path, interleave):
    folder = tmp_path / "run"
    hosts = ("--servers", machines.where, "--clients", machines.second)
    _, printed, errors = away.run(
        "run", study(duration="2s", interleave=interleave), *hosts, "--output", folder, "--anyway"
    )
    away.wait_until_nothing_runs()
    assert f"and {machines.second} (" in " ".join(printed.split()), errors
    [client] = json.loads((folder / "run.json").read_text())["clients"]
    assert client["address"] == machines.second
    assert client["same_machine"] is True
    assert client["round_trip_ms"] > 0
    assert abs(client["clock_ahead_ms"]) <= client["clock_uncertainty_ms"] + 0.1  # it is the same clock
    result = trials(folder)[0]["result"]
    assert (result["planned"], result["sent"], result["ok"]) == (200, 200, 200)
    here, there = (one["planned"] for one in result["generator"])
    assert here + there == 200
    assert abs(here - there) <= 8  # every second send, of each slice from the beginning
    assert all(one["p50_ms"] > 0 for one in result["generator"])
    assert f"An equal share of the load came from {machines.second}" in (folder / "report.html").read_text()


@pytest.fixture
def users(tmp_path):
    def users(who, more=""):
        file = tmp_path / "users.toml"
        file.write_text(USERS.format(users=who, more=more))
        return file

    return users


@pytest.mark.parametrize("who", ["users = 5", "rate = 4"], ids=["again and again", "new ones"])
def test_users_come_from_two_machines(away, machines, users, tmp_path, who):
    folder = tmp_path / "run"
    hosts = ("--servers", machines.where, "--clients", machines.second)
    _, _, errors = away.run("run", users(who), *hosts, "--output", folder, "--anyway")
    away.wait_until_nothing_runs()
    result = trials(folder)[0]["result"]
    assert result["journeys"]["completed"] > 0, errors
    assert result["ok"] == result["planned"] > 0
    assert [one["machine"] for one in result["generator"]] == ["", ""]  # SSH leads back to this one
    here, there = (one["planned"] for one in result["generator"])
    assert here + there == result["planned"]
    assert min(here, there) > 0
    assert sum(row["completed"] for row in result["timeline"]) == result["completed"]


def test_a_single_user_comes_from_one_of_them(away, machines, users, tmp_path):
    folder = tmp_path / "run"
    hosts = ("--servers", machines.where, "--clients", machines.second)
    _, _, errors = away.run("run", users("users = 1"), *hosts, "--output", folder, "--anyway")
    result = trials(folder)[0]["result"]
    assert result["ok"] == result["planned"] > 0, errors
    assert [one["planned"] for one in result["generator"]] == [result["planned"], 0]


def test_a_search_for_users_is_made_from_two_machines(away, machines, tmp_path):
    file = tmp_path / "search.toml"
    file.write_text(SEARCH)
    folder = tmp_path / "run"
    hosts = ("--servers", machines.where, "--clients", machines.second)
    _, _, errors = away.run("run", file, *hosts, "--output", folder, "--anyway")
    away.wait_until_nothing_runs()
    found = trials(folder)[0]
    probes = found["capacity"]["probes"]
    # The first asks for one user, whom one of them has.
    assert probes[0]["rate"] == 1, errors
    assert all(probe["ok"] > 0 for probe in probes if probe["outcome"] == "pass")
    assert found["evidence"]["engine_failed"] is None


def test_several_injectors_on_each_machine_are_refused(away, machines, users, tmp_path):
    hosts = ("--servers", machines.where, "--clients", machines.second)
    code, _, errors = away.run("run", users("users = 4"), "--injectors", "2", *hosts, "--output", tmp_path / "run")
    assert code == 1
    assert "test users: with --clients each machine has one injector; leave out injectors" in errors


def test_a_journey_of_ones_own_is_brought_to_other_machines(away, machines, users, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    hosts = ("--servers", machines.where, "--clients", machines.second)
    study = users("users = 4", 'journey = "own.py"')
    _, _, errors = away.run("run", study, *hosts, "--output", tmp_path / "run", "--anyway")
    result = trials(tmp_path / "run")[0]["result"]
    assert result["ok"] == result["planned"] > 0, errors
    assert all(one["planned"] for one in result["generator"])


def test_one_that_is_lost_costs_a_trial_and_leaves_nothing(away, machines, study, tmp_path):
    folder = tmp_path / "run"
    hosts = ("--servers", machines.where, "--clients", machines.second)
    process = away.start("run", study(duration="4s", interleave="false"), *hosts, "--output", folder, "--anyway")
    wait_for((folder / "run.json").exists, "no run")
    worker = wait_for(lambda: [one for one in with_children(running(away, WORKER)) if is_apart(one)], "no load")[0]
    worker.kill()
    _, errors = process.communicate(timeout=2 * WITHIN_S)
    away.wait_until_nothing_runs()
    assert len(trials(folder)) == 2, errors
    first, second = trials(folder)
    assert "engine_failed" in [flag["reason"] for flag in first["flags"]]
    assert f"{machines.second}: " in first["log"]
    assert second["result"]["ok"] == 400


def test_ctrl_c_ends_all_of_them(away, machines, study, tmp_path):
    hosts = ("--servers", machines.where, "--clients", machines.second)
    process = away.start("run", study(duration="60s", interleave="false"), *hosts, "--output", tmp_path / "run")
    wait_for(lambda: with_children(running(away, WORKER)), "no load")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert "Traceback" not in errors
    away.wait_until_nothing_runs()


@pytest.fixture
def impatient(machines, unused_port):
    """A worker on the second client, whose master is not there."""
    process = subprocess.Popen(
        [VENV / "bin" / "python", "-c", IMPATIENT],
        cwd=machines.folder / "home-of-second" / TREE,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    first = {"token": "t", "number": 0, "program": "generator", "core": None, "port": unused_port, "apart": True}
    process.stdin.write(json.dumps(first).encode() + b"\n")
    process.stdin.flush()
    yield process
    process.kill()
    process.communicate()


def test_it_goes_where_there_is_no_master(impatient):
    assert impatient.wait(WITHIN_S) == 1
    assert b"no master within 1 s: may sshd here forward ports?" in impatient.stderr.read()


@pytest.fixture
def locked(machines):
    """Another run is going on there."""
    with open((machines.folder / "home-of-second" / TREE).parent / "lock", "a") as lock:
        fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
        yield


def test_where_another_run_goes_on_it_takes_no_part(locked, impatient):
    assert impatient.wait(WITHIN_S) == 1
    assert b"another run" in impatient.stderr.read()


def test_one_that_was_not_prepared_is_refused_before_anything_is_started(away, machines, study, tmp_path):
    hosts = ("--servers", machines.where, "--clients", "ssh://third")
    code, _, errors = away.run("run", study(duration="1s", interleave="true"), *hosts, "--output", tmp_path / "run")
    assert code == 1
    assert "ssh://third is not prepared; prepare it: python -m loadtests hosts prepare ssh://third" in errors
    assert not (tmp_path / "run").exists()


def test_one_with_other_files_is_refused(away, machines, study, tmp_path):
    file = machines.folder / "home-of-second" / TREE / "loadtests" / "cli.py"
    before = file.read_text()
    file.write_text(f"{before}\n")
    try:
        hosts = ("--servers", machines.where, "--clients", machines.second)
        code, _, errors = away.run("run", study(duration="1s", interleave="true"), *hosts, "--output", tmp_path / "run")
    finally:
        file.write_text(before)
    assert code == 1
    assert f"{machines.second} does not have what is here: loadtests/cli.py; bring it" in errors


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        (["--clients", "ssh://a"], "--clients is for servers on another machine; name it: --servers ssh://user@host"),
        (["--servers", "ssh://a", "--clients", "b"], "--clients: 'b': write ssh://user@host, or several, with commas"),
        (["--servers", "ssh://a", "--clients", "ssh://a"], "each client, and the machine of the servers, is another"),
        (["--servers", "ssh://a", "--clients", "ssh://b,ssh://b"], "each client, and the machine of the servers, is"),
    ],
)
def test_what_makes_no_sense_is_said(command, study, hosts, says):
    code, _, errors = command("run", study(duration="1s", interleave="true"), *hosts)
    assert code == 1
    assert says in errors


def test_an_engine_that_makes_its_load_here_alone_is_refused(away, machines, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(duration="1s", interleave="true") + 'engine = "loadtest"\n')
    hosts = ("--servers", machines.where, "--clients", machines.second)
    code, _, errors = away.run("run", file, *hosts, "--output", tmp_path / "run")
    assert code == 1
    assert "test latency: the engine loadtest makes its load on this machine alone; leave out --clients" in errors
