"""Test a service on its own machine with the command line.

The servers find the service, and the run reports its cost.
"""

import contextlib
import json
import re
import subprocess
from types import SimpleNamespace

import pytest

from loadtests import setups
from loadtests.hosts.local import Local
from loadtests.hosts.with_services import WithServices
from loadtests.setups import redis, services
from tests.fixtures.other_machine import VENV, OtherMachine, trials

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(300)]

STUDY = """
title = "A service, somewhere else"
blocks = 1
interleave = {interleave}
setups = [{setups}]
[tests.asked]
warmup = "100ms"
{test}
"""
OVER_REDIS = '"daphne-redis"'
SESSIONS = '{ setup = "gunicorn-gthread", env = { SESSIONS = "redis" } }'
LATENCY = 'kind = "latency"\nrate = 50\nduration = "500ms"'
DEFAULTS = {"setups": f"{OVER_REDIS}, {SESSIONS}", "test": LATENCY, "interleave": "true"}
WALK = 'kind = "journey"\nusers = 3\nthink = ["10ms", "20ms"]\nduration = "2s"'
PREPARED = (OtherMachine.where, OtherMachine.third)
ON_THIRD = ("--services", f"redis={OtherMachine.third}")
OTHERS_PIDS = 1 << 22  # larger than any pid on Linux (proc(5), pid_max)


def of(service, trial):
    """Return the record of the service's process in a trial."""
    [row] = [row for row in trial["processes"] if row["role"] == service]
    return row


@pytest.mark.parametrize("interleave", ["true", "false"], ids=["interleaved", "one after the other"])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["servers here", "servers elsewhere"])
def test_redis_serves_from_its_own_machine(measured, machines, folder, interleave, elsewhere):
    servers = ("--servers", machines.where) if elsewhere else ()
    printed, record, found = measured(*servers, *ON_THIRD, interleave=interleave)
    assert f", redis on {machines.third} (" in printed
    [host] = record["service_hosts"]
    assert (host["service"], host["address"], host["listens_on"]) == ("redis", machines.third, "127.0.0.3")
    assert host["round_trip_ms"] > 0
    assert host["version"]
    for trial in found:
        assert trial["result"]["ok"] == 25, trial["log"]
        by_role = {row["role"]: row for row in trial["processes"]}
        service = by_role.pop("redis")
        assert service["charged"] is True
        assert service["pid"] > OTHERS_PIDS
        assert service["peak_rss_mb"] > 0
        assert service["cpu_s"] > 0 or trial["setup"] != "daphne-redis"  # daphne-redis sends all requests through Redis
        assert all(row["pid"] < OTHERS_PIDS for row in by_role.values())
    environment = "".join(file.read_text() for file in folder.rglob("*.json"))
    assert not re.search(r"redis://:\w", environment)  # with the password


def test_resumed_run_uses_remote_sessions(away, measured, folder):
    _, record, _ = measured(*ON_THIRD, setups=SESSIONS, test=WALK)
    for file in (folder / "trials").glob("*.json"):
        file.unlink()
    (folder / "run.json").write_text(json.dumps({**record, "ended": None}))
    _, _, errors = away.run("run", "--resume", folder, "--ignore-busy")
    trial = trials(folder)[-1]  # a second trial, if the machine disturbed the first trial
    assert trial["result"]["ok"] > 0, errors
    assert trial["result"]["examples"] == {}  # a failure would add its reason
    assert of("redis", trial)["pid"] > OTHERS_PIDS
    assert of("redis", trial)["cpu_s"] > 0


WRITE = "is not service=machine. Write redis=ssh://user@host"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("redis", f"--services: 'redis' {WRITE}"),
        ("redis=c", f"--services: 'redis=c' {WRITE}"),
        ("origin=ssh://c", "--services: unknown service that can run on a separate machine 'origin'. Choices are: "),
        (
            "redis=ssh://bench@other",
            "--services: the services, the servers and the clients must be on different machines",
        ),
        ("redis=ssh://c,redis=ssh://d", "--services: redis occurs twice. A service can only run on one"),
    ],
)
def test_wrong_service_host_is_reported(at_hand, study, given, says):
    code, printed, errors = at_hand("run", study(), "--servers", OtherMachine.where, "--services", given)
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert errors.startswith(f"error: {says}")


@pytest.mark.parametrize(
    ("arguments", "url", "says"),
    [
        (("first-look", "--setups", "gunicorn"), "", "--services: the study doesn't use redis. Leave it out"),
        (("redis-apart",), "", "on cores of the servers' machine (SERVICES_CORES=generator)"),
        (("first-look",), "unix:///run/redis.sock", "error: REDIS_URL names no Redis on another machine\n"),
        (("--app", "{folder}"), "", "only serves the sample project. Leave out --services, or --app"),
    ],
)
def test_unsupported_remote_service_is_refused(at_hand, tmp_path, monkeypatch, arguments, url, says):
    (tmp_path / "manage.py").write_text("")
    if url:
        monkeypatch.setenv("REDIS_URL", url)
    arguments = [argument.format(folder=tmp_path) for argument in arguments]
    code, _, errors = at_hand("run", *arguments, *ON_THIRD, "--output", tmp_path / "run", "--ignore-busy")
    assert code == 1
    assert says in errors


def test_missing_redis_is_reported(away, study):
    away.env["REDIS_URL"] = "redis://127.0.0.1:1/0"
    code, _, errors = away.run("run", study(), *ON_THIRD)
    assert code == 1
    assert "error: ssh://bench@third: no visible process listens on port 1" in errors


def test_servers_machine_is_refused(away, study):
    # Use another account, and another name of the servers' machine.
    code, _, errors = away.run("hosts", "prepare", OtherMachine.second, "--venv", VENV)
    assert code == 0, errors
    hosts = ("--servers", OtherMachine.where, "--services", f"redis={OtherMachine.second}")
    code, _, errors = away.run("run", study(), *hosts)
    assert code == 1
    says = "is also the servers' machine. Leave out --services redis="
    assert f"{OtherMachine.second} {says}" in errors


@pytest.fixture
def hosts_file(tmp_path):
    def hosts_file(text=f'servers = "{OtherMachine.where}"\nservices = {{ redis = "{OtherMachine.third}" }}\n'):
        file = tmp_path / "hosts.toml"
        file.write_text(text)
        return file

    return hosts_file


def test_hosts_file_names_all_machines(away, measured, hosts_file):
    code, printed, errors = away.run("hosts", "check", hosts_file())
    assert code == 0, errors
    assert OtherMachine.where in printed
    assert f"{OtherMachine.third} (services)" in printed
    _, record, _ = measured("--hosts", hosts_file(), interleave="false")
    assert record["servers"]["address"] == OtherMachine.where
    assert [one["address"] for one in record["service_hosts"]] == [OtherMachine.third]
    # The file may name a service that the study doesn't use.
    code, printed, errors = away.run("run", "first-look", "--setups", "gunicorn", "--hosts", hosts_file(), "--dry-run")
    assert code == 0, errors
    assert "gunicorn" in printed


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("servers = 'ssh://a'", ("--servers", "ssh://a"), "contains all hosts. Leave out --servers, --clients and"),
        ("server = 'ssh://a'", (), "server: is not a known key. Did you mean servers? Allowed: clients, servers, serv"),
        ("services = { redis = 6379 }", (), "services.redis: must be a text, not 6379"),
        ("clients = ['ssh://a']", (), "--clients only works with servers on another machine. Add --"),
    ],
)
def test_wrong_hosts_file_is_reported(refused, hosts_file, text, options, says):
    assert says in refused("run", "first-look", "--hosts", hosts_file(text), *options)


def test_hosts_file_needs_a_machine(refused, hosts_file):
    says = refused("hosts", "prepare", hosts_file(""))
    assert says.endswith('contains no machines. Add servers = "ssh://user@host"\n')


def test_remote_service_uses_no_server_cores():
    class OtherHost(Local):
        def listens_on(self):
            return "127.0.0.1"

        @contextlib.contextmanager
        def supervise(self, env):
            environment.update(env)
            yield SimpleNamespace(start=lambda group: None)

    environment = {}
    host = WithServices(Local(), {services.known()["redis"]: OtherHost()})
    knobs = {"BIND": "127.0.0.1", "PORT": "1", "CORES": "0", "SERVICES_CORES": "0"}
    with host.supervise(setups.prefixed(knobs)) as supervised:
        supervised.start("redis")
    given = [environment[f"BENCH_{name}"] for name in ("BIND", "CORES", "SERVICES_CORES")]
    assert given == ["127.0.0.1", "", ""]


@pytest.mark.skipif(redis.executable() is None, reason="there is no Redis here (apt-get install redis-server)")
def test_existing_redis_is_not_stopped(away, measured, unused_port):
    options = ("--port", str(unused_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    away.env["REDIS_URL"] = f"redis://127.0.0.1:{unused_port}/0"
    with subprocess.Popen([redis.executable(), *options], stdout=subprocess.DEVNULL) as process:
        _, record, found = measured(*ON_THIRD)
        assert process.poll() is None
        process.kill()
    assert "Redis on ssh://bench@third is the server that REDIS_URL names" in record["service_hosts"][0]["remarks"][0]
    for trial in found:
        assert trial["result"]["ok"] == 25, trial["log"]
        row = of("redis", trial)
        assert (row["pid"], row["charged"]) == (OTHERS_PIDS + process.pid, True)
        assert row["cpu_s"] > 0 or trial["setup"] != "daphne-redis"
        assert "cost_unseen" not in [flag["reason"] for flag in trial["flags"]]


@pytest.mark.parametrize(
    ("service", "variable", "url", "port"),
    [
        ("redis", "REDIS_URL", "redis://h/0", 6379),
        ("postgresql", "DATABASE_URL", "postgresql://me@h/x", 5432),
        ("postgresql", "DATABASE_URL", "postgres://me@h:1234/x", 1234),
    ],
)
def test_existing_redis_is_found_by_url(monkeypatch, service, variable, url, port):
    assert not services.known()[service].of_others
    monkeypatch.setenv(variable, url)
    assert services.known()[service].of_others
    assert services.known()[service].port_of_others() == port
