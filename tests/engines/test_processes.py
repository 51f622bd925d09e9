"""No process of a load outlives its parent, and what goes wrong with one is a clear line."""

import os
import signal
import subprocess
import sys

import pytest

from loadtests import journeys
from loadtests.engines import EngineError, get, node
from loadtests.errors import UserError
from loadtests.workload import Load, Users
from tests.fixtures.waiting import wait_for

ENGINES = ["openloop", "locust"]
RUN = """
import sys
from loadtests.engines import get
from tests.engines.test_processes import load
get(sys.argv[1]).run(load(*sys.argv[1:]), lambda row: print("second", flush=True))
"""


def load(engine, url):
    """A load of ten minutes, made by two processes."""
    users = Users(str(journeys.known()["questionnaire"]), "/questionnaire/", (0.01, 0.03), 4)
    options = {"openloop": {"rate": 50}, "locust": {"users": users}}[engine]
    return Load.of_url(url, duration_s=600, processes=2, **options)


@pytest.fixture
def url(request, server, survey):
    """Of a server that the engine can load."""
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
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_of_a_load_outlives_its_parent(engine, parent, how, generators):
    left = generators(parent.pid)
    assert len(left) == {"openloop": 2, "locust": 3}[engine]  # with Locust's master
    parent.send_signal(how)
    assert parent.wait(20) != 0
    wait_for(lambda: not any(generator.is_running() for generator in left))
    assert ("KeyboardInterrupt" in parent.stderr.read()) == (how == signal.SIGINT)


@pytest.mark.servers
@pytest.mark.parametrize("engine", ENGINES)
def test_a_process_that_dies_is_one_clear_line(engine, url, generators):
    with pytest.raises(EngineError, match=r"^the load generator broke off: killed by signal 9$"):
        get(engine).run(load(engine, url), lambda _row: [one.kill() for one in generators()])
    assert generators() == []


@pytest.mark.servers
def test_a_generator_that_crashes_says_why(server, monkeypatch, tmp_path):
    (tmp_path / "main.js").write_text("process.stdin.once('data', () => { throw new TypeError('so it goes') })\n")
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols" / "http.js").touch()
    monkeypatch.setattr(node, "GENERATOR", tmp_path)
    with pytest.raises(EngineError, match=r"broke off: TypeError: so it goes \(exit status 1\)$"):
        get("openloop").run(Load.of_url(f"{server.url}/ok", rate=20, duration_s=1))


@pytest.fixture
def fresh_require():
    node.require.cache_clear()
    yield
    node.require.cache_clear()


@pytest.mark.usefixtures("fresh_require")
@pytest.mark.parametrize("engine", ["openloop", "loadtest"])
def test_no_node(monkeypatch, tmp_path, engine):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"no node on PATH; install Node.js 20"):
        get(engine).require()


@pytest.mark.usefixtures("fresh_require")
def test_an_old_node(monkeypatch, tmp_path):
    (tmp_path / "node").write_text("#!/bin/sh\necho v18.19.0\n")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(EngineError, match=r"is Node v18.19.0; 20.18.1 or newer is needed"):
        get("openloop").require()


@pytest.mark.usefixtures("fresh_require")
def test_no_packages(monkeypatch, tmp_path):
    monkeypatch.setattr(node, "ROOT", tmp_path)
    with pytest.raises(EngineError, match="run `make setup`"):
        get("openloop").require()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPU affinity on this system")
def test_a_core_that_does_not_exist():
    with pytest.raises(UserError, match="cannot be pinned to core 999"):
        get("openloop").run(Load.of_url("http://127.0.0.1:1/", rate=1, duration_s=1, core=999))


@pytest.mark.servers
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPU affinity on this system")
def test_the_generator_is_pinned_and_the_caller_is_not(server, generators):
    core = max(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    found = []
    load = Load.of_url(f"{server.url}/ok", rate=20, duration_s=1.5, core=core)
    get("openloop").run(load, lambda row: found.extend(process.cpu_affinity() for process in generators()))
    assert found[0] == [core]
    assert os.sched_getaffinity(0) == before


def test_an_unknown_engine():
    with pytest.raises(UserError, match="unknown engine 'openlop'; did you mean openloop"):
        get("openlop")
