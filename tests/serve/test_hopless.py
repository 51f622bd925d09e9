"""Test hopless on every ASGI server.

The answers are the same as without hopless. Disconnected clients leave no tasks, and a reload leaves no threads.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from loadtests.files import ROOT
from tests.fixtures.command import a_free_port
from tests.fixtures.waiting import wait_for

SERVERS = ("uvicorn", "granian-asgi", "hypercorn", "daphne", "gunicorn-asgi")
PARTS = ("whole", "threads", "middleware")
PAGES = ("uvicorn", "--path", "/", "--path", "/async/", "--path", "/db/")


@pytest.mark.servers
@pytest.mark.exhaustive
@pytest.mark.parametrize(("part", "asked"), [*((part, PAGES) for part in PARTS), ("1", SERVERS)])
def test_hopless_answers_like_other_setups(cli, monkeypatch, part, asked):
    monkeypatch.setenv("HOPLESS", part)
    code, printed, errors = cli.run("check", *asked)
    assert code == 0, printed + errors
    assert ": 0 differences" in printed


KEPT = 20  # the number of threads that hopless keeps between requests by default
AT_ONCE = 30
UVICORN = ("uvicorn", "hopless_project:application", "--port")
GUNICORN = ("gunicorn", "hopless_project:application", "--worker-class", "asgi", "--no-control-socket", "--bind")


class Project:
    """Serve the project of tests/fixtures on a port."""

    def __init__(self, port):
        self.port = port

    def asking(self, path):
        """Return a connection that has requested a path and stays open."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        return connection

    def ask(self, path):
        with contextlib.closing(self.asking(path)) as connection:
            return connection.getresponse().read()

    def state(self):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the server may be reloading
            return json.loads(self.ask("/state"))
        return {"pid": None}


@contextlib.contextmanager
def served_by(folder, *command):
    """Serve the project with a command from a folder. Yield the process and the project."""
    shutil.copy(ROOT / "tests" / "fixtures" / "hopless_project.py", folder)
    project = Project(a_free_port())
    command = [sys.executable, "-m", *(word.format(port=project.port) for word in command)]
    with subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}) as process:
        try:
            wait_for(lambda: project.state()["pid"])
            yield process, project
            started = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        finally:
            process.terminate()
    assert psutil.wait_procs(started, timeout=20)[1] == []


@pytest.mark.servers
@pytest.mark.exhaustive
def test_disconnected_clients_leave_no_tasks(tmp_path):
    with served_by(tmp_path, *UVICORN, "{port}") as (_, project):
        before = project.state()
        asking = [project.asking(path) for path in ["/waits", "/sleeps"] * AT_ONCE]
        wait_for(lambda: project.state()["begun"] == 2 * AT_ONCE, "not all requests have started")
        for connection in asking:
            connection.close()
        wait_for(lambda: project.state()["cancelled"] == AT_ONCE, "not all views were cancelled")
        wait_for(lambda: project.state()["threads"] <= KEPT, "threads of sleeping requests are left")
        wait_for(lambda: project.state()["tasks"] == before["tasks"], "tasks are left")
        assert project.ask("/sleeps") == b"slept"


@pytest.mark.servers
@pytest.mark.exhaustive
def test_reload_leaves_no_threads(tmp_path):
    with served_by(tmp_path, *GUNICORN, "127.0.0.1:{port}") as (process, project):
        server = psutil.Process(process.pid)
        with ThreadPoolExecutor(AT_ONCE) as clients:
            assert set(clients.map(project.ask, ["/sleeps"] * AT_ONCE)) == {b"slept"}
        before, threads, children = project.state(), server.num_threads(), len(server.children(recursive=True))
        assert before["threads"] > 1
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: project.state()["pid"] not in (None, before["pid"]), "no other process answers")
        wait_for(lambda: not psutil.pid_exists(before["pid"]), "the process of before is left")
        wait_for(lambda: len(server.children(recursive=True)) == children, "there are other processes than before")
        assert server.num_threads() == threads
        assert project.state()["threads"] == 0
        assert project.ask("/sleeps") == b"slept"
