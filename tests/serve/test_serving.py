"""Test the calls from a running setup to its supervisord, which is simulated."""

from pathlib import Path

import pytest

from loadtests import hosts, setups
from loadtests.hosts import Program
from loadtests.observe.processes import Usage
from loadtests.serve.serving import Serving
from loadtests.setups.application import sample


class Supervised:
    """A fake supervisord that has these programs and records each call. If ``files`` is None, every file exists."""

    folder = Path("/nowhere")

    def __init__(self, *programs, files=None):
        self.all, self.files, self.calls = programs, files, []

    def programs(self, group):
        role = group.partition(":")[2]
        return [one for one in self.all if role in ("", one.role)]

    def has(self, file):
        self.calls.append(file)
        return self.files is None or file in self.files

    def __getattr__(self, name):
        return lambda *given: self.calls.append((name, *given))


def serving(name, supervised, services=(), host=None):
    [setup] = setups.find([name])
    return Serving(setup, services, services, sample(), host, supervised, ("127.0.0.1", 1), 1)


@pytest.mark.parametrize(
    ("state", "status", "files", "awaited"),
    [
        ("RUNNING", 0, (), "datastore"),
        ("RUNNING", 0, ("datastore.http",), None),
        ("EXITED", 0, (), None),  # a variable such as REDIS_URL names another server
        ("EXITED", 69, (), "datastore"),  # the service failed, which the next check reports
        ("STARTING", 0, (), "datastore"),
    ],
)
def test_service_is_awaited_until_ready(state, status, files, awaited):
    supervised = Supervised(Program("datastore", state, 7, status), files=files)
    assert serving("gunicorn-gthread", supervised, ["datastore"]).unready_service() == awaited


WEB = [Program(role, "RUNNING", pid, 0) for role, pid in (("web_0", 10), ("web_1", 20), ("proxy", 30))]


def test_rolling_restart_waits_between_instances():
    running = serving("gunicorn-rolling", Supervised(*WEB))
    running.reload()
    assert running.supervised.calls == [
        ("stop", "gunicorn-rolling:web_0"), ("start", "gunicorn-rolling:web_0"), "ready-10",
        ("stop", "gunicorn-rolling:web_1"), ("start", "gunicorn-rolling:web_1"), "ready-20",
    ]  # fmt: skip


@pytest.mark.parametrize(("children", "killed"), [({11: 50.0, 12: 60.0, 13: 9.0}, 12), ({}, 10)])
def test_largest_worker_is_killed(children, killed):
    class Machine(hosts.at("local").__class__):
        def usage(self, parts, folder):
            memory = {**{part.pid: 70.0 for part in parts if part.pid == 10}, **children}
            return {pid: Usage("web", "", pid, 0.0, mb, mb, 0) for pid, mb in memory.items()}

    running = serving("gunicorn", Supervised(*WEB), host=Machine())
    running.kill_worker()
    assert running.supervised.calls == [("signal", killed, "KILL")]
