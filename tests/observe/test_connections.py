"""Test the exact counts of opened, leaked and refused PostgreSQL connections."""

import json
import subprocess
import sys

import pytest

from loadtests.setups import needs
from tests.fixtures.databases import postgresql

REQUESTS, LEAKS_ONE_IN = 100, 5
CONNECTIONS = 97  # PostgreSQL's default limit for users other than superusers
LEAKING = f"""
import itertools, os
import psycopg
from django.http import HttpResponse
from django.urls import path

seen, kept = itertools.count(), []

def view(request):
    connection = psycopg.connect(os.environ["DATABASE_URL"])
    connection.execute("SELECT 1")
    if next(seen) % {LEAKS_ONE_IN}:
        connection.close()
    else:
        kept.append(connection)
    return HttpResponse("OK")

urlpatterns = [path("", view)]
"""
STUDY = """
setups = ["gunicorn"]
blocks = 1
interleave = false
tests.latency = { rate = 50, duration = "2s", warmup = "0s", services = ["postgresql"] }
"""
BETWEEN = """
setups = [{ setup = "gunicorn-gthread", env = { THREADS = 8, CONN_MAX_AGE = 60, PGBOUNCER = 1 } }]
blocks = 1
interleave = false
tests.throughput = { path = "/db", connections = 8, duration = "2s", warmup = "500ms", services = ["postgresql"] }
"""


def with_services(*names):
    """Skip a test if one of these servers isn't installed."""
    lacks = pytest.mark.skipif(
        bool(needs.missing_needs(names)), reason=f"not all servers are installed: apt-get install {' '.join(names)}"
    )
    return lambda test: pytest.mark.servers(pytest.mark.exhaustive(lacks(test)))


@pytest.fixture
def leaking(tmp_path):
    """Return the folder of a project that leaks one in five connections, each with an open transaction."""
    site = tmp_path / "mysite"
    site.mkdir()
    subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", str(site)], check=True)
    (site / "mysite" / "urls.py").write_text(LEAKING)
    return site


@pytest.fixture
def measured(cli, tmp_path):
    """Return a function that runs a study and returns the trial, the values of its gauges by name, and the output."""

    def run(study, *options):
        (tmp_path / "study.toml").write_text(study)
        folder = tmp_path / "run"
        _, *printed = cli.run("run", tmp_path / "study.toml", *options, "--ignore-busy", "--output", folder)
        trial = json.loads(next((folder / "trials").glob("*.json")).read_text())
        cli.wait_until_nothing_runs()
        return trial, {name: [value for _, value in series] for name, series in trial["gauges"].items()}, printed

    return run


@with_services("postgresql")
def test_leaked_connections_are_counted(measured, leaking):
    trial, gauges, printed = measured(STUDY, "--app", leaking)
    assert trial["result"]["ok"] == REQUESTS, printed
    assert gauges["connections opened"] == [REQUESTS]
    left = gauges["connections left"][-1]
    assert left - gauges["connections"][0] == REQUESTS // LEAKS_ONE_IN
    # psycopg starts a transaction with the first query. The last reading may miss the latest connections.
    assert left // 2 < gauges["connections idle in transaction"][-1] <= left
    assert gauges["connections refused"] == [0]
    assert not trial["evidence"]["service_failed"]  # PostgreSQL's processes end with their connections


@with_services("postgresql")
def test_refused_connections_are_counted(measured, leaking):
    (leaking / "mysite" / "urls.py").write_text(LEAKING.replace(f"% {LEAKS_ONE_IN}", "% 1"))
    warm = STUDY.replace('warmup = "0s"', f'warmup = "{CONNECTIONS // 50 + 1}s"')
    trial, gauges, printed = measured(warm, "--app", leaking)
    assert set(gauges["connections"]) == {CONNECTIONS}, printed
    assert gauges["connections refused"] == [REQUESTS]
    assert trial["result"]["ok"] == 0


@with_services("postgresql")
def test_refusals_of_existing_database_are_unknown(cli, measured, leaking):
    with postgresql() as folder:  # a database server that the run didn't start
        cli.env["DATABASE_URL"] = f"postgresql://testproject@/testproject?host={folder}"
        _, gauges, printed = measured(STUDY, "--app", leaking)
    assert gauges["connections opened"][0] == REQUESTS, printed
    assert "connections refused" not in gauges


@with_services("postgresql", "pgbouncer")
def test_pgbouncer_connections_are_counted_separately(measured):
    trial, gauges, printed = measured(BETWEEN)
    assert gauges["connections to pgbouncer"][-1] == 8, printed  # each thread keeps a connection
    assert 1 <= max(gauges["connections"]) <= 8
    assert trial["result"]["errors"] == {}
    charged = {one["role"]: one["charged"] for one in trial["processes"]}
    assert charged == {"web": True, "pgbouncer": True, "postgresql": False}


def test_missing_pgbouncer_omits_pgbouncer_setups(command, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/bench")
    code, printed, errors = command(
        "run", "connections", "--setups", "gunicorn-0,uvicorn-pgbouncer", "--dry-run", "--ignore-busy"
    )
    assert code == 0, errors
    assert "the service pgbouncer: pgbouncer is not installed: apt-get install pgbouncer, and leave out" in printed


def test_pgbouncer_needs_a_database(command, tmp_path, monkeypatch):
    monkeypatch.setattr(needs, "system", lambda name: lambda bin: True)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    study = tmp_path / "between.toml"
    study.write_text(BETWEEN.replace(', services = ["postgresql"]', ""))
    code, _, errors = command("run", study, "--dry-run")
    assert (code, errors.count("\n")) == (1, 1)
    assert 'gunicorn-gthread in test throughput: PGBOUNCER needs services = ["postgresql"]' in errors
