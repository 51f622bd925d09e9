"""A service on a machine of its own, from the command line: the servers find it there, and the run reports it."""

import contextlib
import json
import re
from types import SimpleNamespace

import pytest

from loadtests.hosts.local import Local
from loadtests.hosts.with_services import WithServices
from loadtests.setups import services
from tests.fixtures.other_machine import VENV, OtherMachine, trials

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

STUDY = """
title = "Redis, somewhere else"
baseline = "sessions"
blocks = 1
interleave = {interleave}
[[setups]]
setup = "daphne-redis"
[[setups]]
setup = "gunicorn"
label = "sessions"
env = {{ SESSIONS = "redis" }}
[tests.latency]
rate = 50
duration = "500ms"
warmup = "100ms"
"""
WALKED = """
title = "Sessions, somewhere else"
blocks = 1
[[setups]]
setup = "gunicorn-gthread"
env = { SESSIONS = "redis" }
[tests.walked]
kind = "journey"
users = 3
think = ["10ms", "20ms"]
warmup = "500ms"
duration = "2s"
"""
PREPARED = (OtherMachine.where, OtherMachine.third)
OTHERS_PIDS = 1 << 22  # above those of any machine (proc(5), pid_max)


@pytest.mark.parametrize(
    ("interleave", "elsewhere"),
    [
        pytest.param(True, False, id="interleaved, servers here"),
        pytest.param(False, False, id="one after the other, servers here", marks=pytest.mark.exhaustive),
        pytest.param(True, True, id="interleaved, servers elsewhere", marks=pytest.mark.exhaustive),
        pytest.param(False, True, id="one after the other, servers elsewhere", marks=pytest.mark.exhaustive),
    ],
)
def test_redis_serves_from_its_own_machine(away, machines, study, tmp_path, interleave, elsewhere):
    folder = tmp_path / "run"
    servers = ("--servers", machines.where) if elsewhere else ()
    options = (*servers, "--services", f"redis={machines.third}", "--output", folder, "--anyway")
    _, printed, errors = away.run("run", study(interleave=str(interleave).lower()), *options)
    away.wait_until_nothing_runs()
    assert f", redis on {machines.third} (" in " ".join(printed.split()), errors
    record = json.loads((folder / "run.json").read_text())
    [found] = record["service_hosts"]
    assert (found["service"], found["address"], found["listens_on"]) == ("redis", machines.third, "127.0.0.3")
    assert found["round_trip_ms"] > 0
    assert found["version"]
    for trial in trials(folder):
        assert trial["result"]["ok"] == 25, trial["log"]
        by_role = {row["role"]: row for row in trial["processes"]}
        redis = by_role.pop("redis")
        assert redis["charged"] is True
        assert redis["pid"] > OTHERS_PIDS
        assert redis["peak_rss_mb"] > 0
        assert all(row["pid"] < OTHERS_PIDS for row in by_role.values())
    layered = [trial for trial in trials(folder) if trial["setup"] == "daphne-redis"]
    # All of its requests went through it.
    assert all(row["cpu_s"] > 0 for trial in layered for row in trial["processes"] if row["role"] == "redis")
    environment = "".join(file.read_text() for file in folder.rglob("*.json"))
    assert not re.search(r"redis://:\w", environment)  # with the password


@pytest.mark.exhaustive
def test_sessions_are_read_and_written_there(away, machines, tmp_path):
    folder, study = tmp_path / "run", tmp_path / "walked.toml"
    study.write_text(WALKED)
    options = ("--services", f"redis={machines.third}", "--output", folder, "--anyway")
    _, _, errors = away.run("run", study, *options)
    trial = trials(folder)[-1]  # which may be a second one, where the machine disturbed the first
    assert trial["result"]["ok"] > 0, errors
    assert trial["result"]["examples"] == {}  # of what failed
    [redis] = [row for row in trial["processes"] if row["role"] == "redis"]
    assert redis["pid"] > OTHERS_PIDS
    assert redis["cpu_s"] > 0


@pytest.mark.exhaustive
def test_a_run_is_resumed_with_its_service_where_it_was(away, machines, study, tmp_path):
    folder = tmp_path / "run"
    options = ("--services", f"redis={machines.third}", "--output", folder, "--anyway")
    away.run("run", study(interleave="false"), *options)
    for file in (folder / "trials").glob("*.json"):
        if json.loads(file.read_text())["setup"] == "daphne-redis":
            file.unlink()
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "ended": None}))
    _, _, errors = away.run("run", "--resume", folder, "--anyway")
    again = [trial for trial in trials(folder) if trial["setup"] == "daphne-redis"]
    assert again, errors
    assert all(row["pid"] > OTHERS_PIDS for trial in again for row in trial["processes"] if row["role"] == "redis")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("redis", "--services: 'redis': write a service and its machine: redis=ssh://user@host"),
        ("redis=c", "--services: 'redis=c': write a service and its machine: redis=ssh://user@host"),
        (
            "origin=ssh://c",
            "--services: unknown service that can be on a machine of its own 'origin'; there are: redis",
        ),
        ("redis=ssh://bench@other", "--services: each service, the servers and each client is on another machine"),
        ("redis=ssh://c,redis=ssh://d", "--services: redis is named twice; a service has one machine"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(at_hand, machines, study, given, said):
    code, printed, errors = at_hand("run", study(interleave="true"), "--servers", machines.where, "--services", given)
    assert (code, printed) == (1, "")
    assert errors.startswith(f"error: {said}")
    assert errors.count("\n") == 1


def test_a_redis_that_is_not_there_is_said_in_a_line(away, machines, study, tmp_path):
    away.env["REDIS_URL"] = "redis://127.0.0.1:1/0"
    options = ("--services", f"redis={machines.third}", "--output", tmp_path / "run", "--anyway")
    code, _, errors = away.run("run", study(interleave="true"), *options)
    assert code == 1
    assert "error: ssh://bench@third: no process that listens on port 1 can be seen there" in errors


def test_a_redis_on_a_socket_is_on_no_other_machine(at_hand, machines, study, monkeypatch):
    monkeypatch.setenv("REDIS_URL", "unix:///run/redis.sock")
    _, _, errors = at_hand("run", study(interleave="true"), "--services", f"redis={machines.third}")
    assert errors == "error: REDIS_URL names no Redis on another machine\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("first-look", "--setups", "gunicorn"), "--services: no setup of the study asks for redis; leave it out"),
        (("redis-apart",), "on cores of the servers' machine (SERVICES_CORES=generator)"),
    ],
)
def test_a_service_that_does_not_go_with_the_study_is_refused(at_hand, machines, arguments, says):
    _, _, errors = at_hand("run", *arguments, "--services", f"redis={machines.third}")
    assert says in errors


def test_a_project_of_ones_own_has_services_of_its_own(at_hand, machines, tmp_path):
    (tmp_path / "manage.py").write_text("")
    options = ("--app", tmp_path, "--services", f"redis={machines.third}")
    code, _, errors = at_hand("run", *options)
    assert code == 1
    assert f"redis={machines.third} has the sample project only; leave out --services, or --app" in errors


@pytest.fixture
def hosts_file(machines, tmp_path):
    def hosts_file(text=None):
        file = tmp_path / "hosts.toml"
        named = f'servers = "{machines.where}"\nservices = {{ redis = "{machines.third}" }}\n'
        file.write_text(named if text is None else text)
        return file

    return hosts_file


@pytest.mark.exhaustive
def test_all_machines_can_be_named_in_a_file(away, machines, study, hosts_file, tmp_path):
    code, printed, errors = away.run("hosts", "check", hosts_file())
    assert code == 0, errors
    assert machines.where in printed
    assert f"{machines.third} (services)" in printed
    folder = tmp_path / "run"
    _, _, errors = away.run("run", study(interleave="false"), "--hosts", hosts_file(), "--output", folder, "--anyway")
    record = json.loads((folder / "run.json").read_text())
    assert record["servers"]["address"] == machines.where, errors
    assert [one["address"] for one in record["service_hosts"]] == [machines.third]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (None, ("--servers", "ssh://a"), "says where everything is; leave out --servers, --clients and --services"),
        (
            "server = 'ssh://a'",
            (),
            "server: is not a key here; did you mean servers? allowed: clients, servers, services",
        ),
        ("services = { redis = 6379 }", (), "services.redis: is 6379; a text is needed"),
        ("clients = ['ssh://a']", (), "--clients is for servers on another machine; name it"),
    ],
)
def test_a_hosts_file_that_is_wrong_is_said_in_a_line(at_hand, study, hosts_file, text, options, said):
    code, printed, errors = at_hand("run", study(interleave="true"), "--hosts", hosts_file(text), *options)
    assert (code, printed) == (1, "")
    assert said in errors
    assert errors.count("\n") == 1


@pytest.mark.exhaustive
def test_a_file_may_name_a_service_that_a_study_does_not_ask_for(away, hosts_file, tmp_path):
    options = ("--setups", "gunicorn", "--hosts", hosts_file(), "--dry-run")
    code, printed, errors = away.run("run", "first-look", *options)
    assert code == 0, errors
    assert "gunicorn" in printed


def test_cores_of_the_servers_are_none_of_another_machine():
    class OtherHost(Local):
        def listens_on(self):
            return "127.0.0.1"

        @contextlib.contextmanager
        def supervise(self, env):
            environment.update(env)
            yield SimpleNamespace(start=lambda group: None)

    environment = {}
    host = WithServices(Local(), {services.known()["redis"]: OtherHost()})
    with host.supervise({"BIND": "127.0.0.1", "PORT": "1", "CORES": "0", "SERVICES_CORES": "0"}) as supervised:
        supervised.start("redis")
    assert (environment["BIND"], environment["CORES"], environment["SERVICES_CORES"]) == ("127.0.0.1", "", "")


@pytest.mark.exhaustive
def test_the_servers_own_machine_is_none_of_its_own(away, machines, study, tmp_path):
    # By another account, of which its name says nothing.
    code, _, errors = away.run("hosts", "prepare", machines.second, "--venv", VENV)
    assert code == 0, errors
    options = ("--servers", machines.where, "--services", f"redis={machines.second}", "--output", tmp_path / "run")
    code, _, errors = away.run("run", study(interleave="true"), *options)
    assert code == 1
    assert f"{machines.second} is the servers' own machine, by its own address; leave out --services redis=" in errors


def test_a_hosts_file_without_a_machine_is_nothing_to_prepare(at_hand, hosts_file):
    code, _, errors = at_hand("hosts", "prepare", hosts_file(""))
    assert code == 1
    assert errors.endswith('names no machine; write servers = "ssh://user@host"\n')
