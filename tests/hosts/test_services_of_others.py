"""A Redis or PostgreSQL that somebody else runs: its cost is read where it is, and it is left alone."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from loadtests.files import SUPERVISOR
from loadtests.setups import needs, redis
from tests.fixtures.other_machine import OtherMachine, trials
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive, pytest.mark.timeout(300)]

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
DATABASE = """
title = "PostgreSQL, somewhere else"
setups = ["gunicorn"]
blocks = 1
[tests.query]
kind = "latency"
rate = 50
path = "/db"
duration = "1s"
warmup = "100ms"
services = ["postgresql"]
"""
PREPARED = (OtherMachine.where, OtherMachine.third)
OTHERS_PIDS = 1 << 22  # above those of any machine (proc(5), pid_max)


@pytest.fixture
def somebodys_redis(unused_port):
    """The process of a Redis that listens on a port of this machine, and its URL."""
    options = ("--port", str(unused_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    with subprocess.Popen([redis.executable(), *options], stdout=subprocess.DEVNULL) as process:
        yield process, f"redis://127.0.0.1:{unused_port}/0"
        process.kill()


@pytest.mark.skipif(redis.executable() is None, reason="there is no Redis here (apt-get install redis-server)")
def test_the_cost_of_a_redis_of_somebody_else_is_read_on_its_machine(away, machines, study, somebodys_redis, tmp_path):
    process, away.env["REDIS_URL"] = somebodys_redis
    options = ("--services", f"redis={machines.third}", "--output", tmp_path / "run", "--anyway")
    _, _, errors = away.run("run", study(interleave="true"), *options)
    away.wait_until_nothing_runs()
    assert process.poll() is None
    [found] = json.loads((tmp_path / "run" / "run.json").read_text())["service_hosts"]
    assert "Redis on ssh://bench@third is the one of REDIS_URL" in found["remarks"][0], errors
    for trial in trials(tmp_path / "run"):
        assert trial["result"]["ok"] == 25, trial["log"]
        [row] = [row for row in trial["processes"] if row["role"] == "redis"]
        assert (row["pid"], row["charged"]) == (OTHERS_PIDS + process.pid, True)
        assert row["cpu_s"] > 0 or trial["setup"] != "daphne-redis"
        assert "cost_unseen" not in [flag["reason"] for flag in trial["flags"]]


@contextlib.contextmanager
def postgresql(*options):
    """The data folder of a new PostgreSQL with these options of ``postgres``."""
    bins = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # as Debian has them
    path = os.pathsep.join([os.environ["PATH"], *map(str, bins)])
    as_nobody_special = ("sh", SUPERVISOR / "no_root.sh")
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        data = Path(folder) / "data"
        for made in (
            ("mkdir", "-m", "700", data),
            ("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"),
        ):
            subprocess.run(
                [*as_nobody_special, *made], env={**os.environ, "PATH": path}, check=True, capture_output=True
            )
        server = [*as_nobody_special, "postgres", "-D", data, "-k", folder, *options]
        with subprocess.Popen(server, env={**os.environ, "PATH": path}, stderr=subprocess.DEVNULL) as process:
            wait_for(lambda: "ready" in _status(data))
            yield data
            process.send_signal(signal.SIGINT)


def _status(data):
    with contextlib.suppress(FileNotFoundError):
        return (data / "postmaster.pid").read_text()
    return ""


@pytest.fixture
def somebodys_postgresql(unused_port):
    """The pid of a PostgreSQL that listens on a port of this machine, and the URL of an empty database in it."""
    with postgresql("-c", "listen_addresses=127.0.0.1", "-p", str(unused_port)) as folder:
        pid = int((folder / "postmaster.pid").read_text().split()[0])
        yield pid, f"postgresql://postgres@127.0.0.1:{unused_port}/postgres"


@pytest.mark.skipif(bool(needs.missing_needs(["postgresql"])), reason="no PostgreSQL: apt-get install postgresql")
def test_the_cost_of_a_postgresql_of_somebody_else_is_read_on_its_machine(
    away, machines, somebodys_postgresql, tmp_path
):
    pid, away.env["DATABASE_URL"] = somebodys_postgresql
    (tmp_path / "study.toml").write_text(DATABASE)
    options = ("--services", f"postgresql={machines.third}", "--output", tmp_path / "run", "--anyway")
    code, _, errors = away.run("run", tmp_path / "study.toml", *options)
    away.wait_until_nothing_runs()
    assert psutil.pid_exists(pid)
    assert code == 0, errors
    [found] = json.loads((tmp_path / "run" / "run.json").read_text())["service_hosts"]
    assert "PostgreSQL on ssh://bench@third is the one of DATABASE_URL" in found["remarks"][0], errors
    [trial] = trials(tmp_path / "run")
    assert trial["result"]["ok"] == 50, trial["log"]
    [row] = [row for row in trial["processes"] if row["role"] == "postgresql"]
    assert row["pid"] == OTHERS_PIDS + pid
    assert row["cpu_s"] > 0
