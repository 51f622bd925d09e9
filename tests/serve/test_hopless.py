"""Every ASGI server, with Django served through the package hopless: the answers are those of the others, and neither a
client that goes nor a reload leaves anything behind."""

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
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.waiting import wait_for

SERVERS = ("uvicorn", "granian-asgi", "hypercorn", "daphne", "gunicorn-asgi")


@pytest.mark.servers
@pytest.mark.exhaustive
def test_every_asgi_server_answers_through_hopless_as_the_others_do(cli, monkeypatch):
    monkeypatch.setenv("HOPLESS", "1")
    code, printed, errors = cli.run("check", *SERVERS)
    assert code == 0, printed + errors
    assert "to each of 6 setups: 0 differences" in printed  # these and gunicorn, with which they are compared


@pytest.mark.servers
@pytest.mark.parametrize("part", exhaustive_but(("whole",), ["whole", "threads", "middleware"]))
def test_the_parts_of_hopless_answer_alike(cli, monkeypatch, part):
    monkeypatch.setenv("HOPLESS", part)
    code, printed, errors = cli.run("check", "uvicorn", "--path", "/", "--path", "/async/", "--path", "/db/")
    assert code == 0, printed + errors


def test_a_part_that_does_not_exist_is_refused(refused, monkeypatch):
    monkeypatch.setenv("HOPLESS", "twins")
    assert "HOPLESS=twins: 1, threads, middleware or whole is needed" in refused("check", "uvicorn")


KEPT = 20  # threads between requests, as many as hopless keeps unless it is set otherwise
AT_ONCE = 30
UVICORN = ("uvicorn", "hopless_project:application", "--port")
GUNICORN = ("gunicorn", "hopless_project:application", "--worker-class", "asgi", "--no-control-socket", "--bind")
RELOADING = {"uvicorn --reload": (*UVICORN, "{port}", "--reload"), "gunicorn HUP": (*GUNICORN, "127.0.0.1:{port}")}


@contextlib.contextmanager
def project(folder, *command):
    """The project of tests/fixtures, served from a folder by a command: its process, a function that takes the answer
    to a path, and one that asks and leaves its connection open."""
    port = a_free_port()
    shutil.copy(ROOT / "tests" / "fixtures" / "hopless_project.py", folder)

    def ask(path):
        with contextlib.closing(connection_asking(path)) as connection:
            return connection.getresponse().read()

    def connection_asking(path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        return connection

    def answers():
        with contextlib.suppress(OSError, http.client.HTTPException):
            return ask("/state")

    command = [sys.executable, "-m", *(word.format(port=port) for word in command)]
    with subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}) as process:
        try:
            wait_for(answers)
            yield process, ask, connection_asking
            started = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        finally:
            process.terminate()
    assert psutil.wait_procs(started, timeout=20)[1] == []


def state(ask):
    with contextlib.suppress(OSError, http.client.HTTPException):  # in the middle of a reload
        return json.loads(ask("/state"))
    return {"pid": None}


@pytest.mark.servers
@pytest.mark.exhaustive
def test_clients_that_go_leave_neither_tasks_nor_threads_in_uvicorn(tmp_path):
    with project(tmp_path, *UVICORN, "{port}") as (_, ask, connection_asking):
        before = state(ask)
        waiting = [connection_asking("/waits") for _ in range(AT_ONCE)]
        sleeping = [connection_asking("/sleeps") for _ in range(AT_ONCE)]
        wait_for(lambda: state(ask)["begun"] == 2 * AT_ONCE, "not all requests have begun")
        for connection in (*waiting, *sleeping):
            connection.close()
        wait_for(lambda: state(ask)["cancelled"] == AT_ONCE, "not all views were cancelled")
        wait_for(lambda: state(ask)["threads"] <= KEPT, "threads of those that slept are left")
        wait_for(lambda: state(ask)["tasks"] == before["tasks"], "tasks are left")
        assert ask("/sleeps") == b"slept"


@pytest.mark.servers
@pytest.mark.exhaustive
@pytest.mark.parametrize("way", RELOADING)
def test_a_reload_leaves_neither_threads_nor_processes(tmp_path, way):
    with project(tmp_path, *RELOADING[way]) as (process, ask, _):
        server = psutil.Process(process.pid)
        with ThreadPoolExecutor(AT_ONCE) as clients:
            assert set(clients.map(ask, ["/sleeps"] * AT_ONCE)) == {b"slept"}
        before, threads, children = state(ask), server.num_threads(), len(server.children(recursive=True))
        assert before["threads"] > 1
        if way == "gunicorn HUP":
            process.send_signal(signal.SIGHUP)
        else:
            file = tmp_path / "hopless_project.py"
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime + 10))
        wait_for(lambda: state(ask)["pid"] not in (None, before["pid"]), "no other process answers")
        wait_for(lambda: not psutil.pid_exists(before["pid"]), "the process of before is left")
        wait_for(lambda: len(server.children(recursive=True)) == children, "there are other processes than before")
        assert server.num_threads() == threads
        assert state(ask)["threads"] == 0
        assert ask("/sleeps") == b"slept"
