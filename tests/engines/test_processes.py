"""Test that load processes don't outlive their parent process, and that their failures are one-line errors."""

import dataclasses
import os
import signal
import subprocess
import sys

import pytest

from loadtests import journeys
from loadtests.engines import EngineError, get, node
from loadtests.engines.base import Watch
from loadtests.errors import UserError
from loadtests.workload import Load, Users
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.waiting import wait_for

RUN = """
import sys
from loadtests.engines import get
from loadtests.engines.base import Watch
from tests.engines.test_processes import load
get(sys.argv[1]).run(load(*sys.argv[1:]), Watch(lambda row: print("second", flush=True)))
"""


def load(engine, url):
    """Return a load of ten minutes. The load has two processes if the engine supports more than one process."""
    users = Users(str(journeys.known()["questionnaire"]), "/questionnaire/", (0.01, 0.03), 4)
    options = {"users": users} if engine == "locust" else {"rate": 50}
    return Load.of_url(url, duration_s=600, processes=1 if engine == "loadtest" else 2, **options)


@pytest.fixture
def url(request, server, survey):
    """Return the URL of a known server that supports the engine's load."""
    return f"{survey().url}/" if request.node.callspec.params["engine"] == "locust" else f"{server.url}/ok"


@pytest.fixture
def parent(request, url):
    command = [sys.executable, "-c", RUN, request.node.callspec.params["engine"], url]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=node.ROOT, text=True, start_new_session=True, **pipes) as process:
        assert process.stdout.readline() == "second\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.servers
@pytest.mark.parametrize("engine", exhaustive_but(("openloop",), ["openloop", "locust"]))
@pytest.mark.parametrize("how", exhaustive_but((signal.SIGKILL,), [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
def test_no_process_outlives_its_parent(engine, parent, how, generators):
    left = generators(parent.pid)
    assert len(left) == 2
    parent.send_signal(how)
    assert parent.wait(20) != 0
    wait_for(lambda: not any(generator.is_running() for generator in left))
    assert ("KeyboardInterrupt" in parent.stderr.read()) == (how == signal.SIGINT)


@pytest.mark.servers
@pytest.mark.parametrize(
    ("engine", "who"),
    [
        ("openloop", "main.js"),
        pytest.param("locust", "loadtests.journeys.injector", marks=pytest.mark.exhaustive),
    ],
)
def test_killed_process_is_reported(engine, who, url, generators):
    def kill(_row):
        for one in generators():
            if who in " ".join(one.cmdline()):
                one.kill()

    with pytest.raises(EngineError, match=r"^the load generator stopped: killed by signal 9$"):
        get(engine).run(load(engine, url), Watch(kill))
    assert generators() == []


@pytest.mark.servers
@pytest.mark.parametrize("engine", exhaustive_but(("openloop",), ["openloop", "locust", "loadtest"]))
def test_load_can_be_stopped_early(engine, url):
    rows = []
    result = get(engine).run(load(engine, url), Watch(rows.append, lambda: len(rows) >= 1))
    assert 1 <= result.duration_s < 600
    assert 0 < result.planned == result.ok + sum(result.errors.values()) + result.unfinished < 30_000


@pytest.mark.parametrize("engine", ["openloop", "loadtest"])
@pytest.mark.parametrize(
    ("version", "says"),
    [
        (None, "node is not on PATH. Install Node.js 20"),
        ("v18.19.0", "is Node v18.19.0. Install Node 20.18.1 or newer"),
        ("v20.18.1", "Run `make setup`"),
    ],
)
def test_missing_or_old_node_is_reported(monkeypatch, tmp_path, version, says, engine):
    if version is not None:
        (tmp_path / "node").write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(node, "ROOT", tmp_path)
    monkeypatch.setattr(node, "require", node.require.__wrapped__)  # without the cache
    with pytest.raises(EngineError, match=says):
        get(engine).require()


@pytest.mark.servers
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPU affinity on this system")
def test_only_the_generator_is_pinned(server, generators):
    core = max(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    found = []
    load = Load.of_url(f"{server.url}/ok", rate=20, duration_s=1.5, core=core)
    get("openloop").run(load, Watch(lambda row: found.extend(process.cpu_affinity() for process in generators())))
    assert found[0] == [core]
    assert os.sched_getaffinity(0) == before
    with pytest.raises(UserError, match="cannot be pinned to core 999"):
        get("openloop").run(dataclasses.replace(load, core=999))
