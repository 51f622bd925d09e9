"""Setups replace their workers as their files say, while requests come."""

import contextlib
import threading
import urllib.error
import urllib.request

import psutil
import pytest

from loadtests import hosts, setups
from loadtests.errors import UserError
from loadtests.hosts import Program
from loadtests.observe.processes import Usage
from loadtests.serve.serving import Serving
from loadtests.setups.application import sample
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.served import processes, served
from tests.fixtures.waiting import wait_for

RENEWING = {name: setup.renews for name, setup in setups.known().items() if setup.renews}
BY_NUMBER = [name for name, ways in RENEWING.items() if "max-requests" in ways]


def workers(running):
    """What runs Django, by pid: children of what supervisor has started."""
    first = {program.pid for program in running._servers()}
    found = set()
    for one in processes(running):
        with contextlib.suppress(psutil.NoSuchProcess):  # it was replaced meanwhile
            if one.ppid() in first and one.memory_info().rss > 20e6:
                found.add(one.pid)
    return found


def ask(running):
    """The status of an answer; None where there was none."""
    try:
        with urllib.request.urlopen(f"{running.url}/", timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@pytest.mark.servers
@pytest.mark.parametrize("name", exhaustive_but(("gunicorn",), RENEWING))
def test_a_reload_replaces_all_workers_and_the_setup_answers_again(own_database, name):
    with served(name, WORKERS="2") as running:
        before = workers(running)
        assert len(before) >= 2
        running.reload()
        wait_for(lambda: not before & workers(running), "the workers are still there")
        wait_for(lambda: ask(running) == 200, "it does not answer again")


@pytest.mark.servers
def test_a_graceful_reload_of_gunicorn_loses_nothing(own_database):
    statuses = []
    with served("gunicorn", WORKERS="2") as running:
        before, over = workers(running), threading.Event()
        asking = threading.Thread(target=lambda: [statuses.append(ask(running)) for _ in iter(over.is_set, True)])
        asking.start()
        running.reload()
        wait_for(lambda: not before & workers(running), "the workers are still there")
        over.set()
        asking.join()
    assert set(statuses) == {200}


@pytest.mark.servers
@pytest.mark.parametrize("name", exhaustive_but(("gunicorn",), BY_NUMBER))
def test_after_a_number_of_requests_workers_are_replaced(own_database, name):
    with served(name, WORKERS="2", MAX_REQUESTS="8", MAX_REQUESTS_JITTER="2") as running:
        before = workers(running)
        wait_for(lambda: ask(running) and not before & workers(running), "the workers are still there")


@pytest.mark.servers
def test_the_process_that_is_killed_is_a_worker(own_database):
    with served("gunicorn", WORKERS="2") as running:
        before, [master] = workers(running), running._servers()
        running.kill_worker()
        wait_for(lambda: len(before & workers(running)) == 1)
        wait_for(lambda: len(workers(running)) == 2)
        assert [one.pid for one in running._servers()] == [master.pid]
        with pytest.raises(UserError, match=r"^process 1 was to get the signal HUP, and is none of the setup's"):
            running.supervised.signal(1, "HUP")
        assert psutil.pid_exists(1)


class Programs:
    """A supervisord of two instances and a proxy, that notes its calls."""

    folder = None

    def __init__(self):
        self.calls = []

    def programs(self, group):
        pids, role = {"web_0": 10, "web_1": 20, "proxy": 30}, group.partition(":")[2]
        return [Program(one, "RUNNING", pid, 0) for one, pid in pids.items() if role in ("", one)]

    def has(self, file):
        self.calls.append(file)
        return True

    def __getattr__(self, name):
        return lambda *given: self.calls.append((name, *given))


def serving(name, host=None):
    [setup] = setups.find([name])
    return Serving(setup, (), (), sample(), host, Programs(), ("127.0.0.1", 1), 1)


def test_in_a_rolling_restart_the_second_instance_goes_when_the_first_is_ready():
    running = serving("gunicorn-rolling")
    running.reload()
    assert running.supervised.calls == [
        ("stop", "gunicorn-rolling:web_0"), ("start", "gunicorn-rolling:web_0"), "ready-10",
        ("stop", "gunicorn-rolling:web_1"), ("start", "gunicorn-rolling:web_1"), "ready-20",
    ]  # fmt: skip


@pytest.mark.parametrize(("children", "killed"), [({11: 50.0, 12: 60.0, 13: 9.0}, 12), ({}, 10)])
def test_the_largest_worker_is_killed_or_where_there_is_none_a_server(children, killed):
    class Machine(hosts.at("local").__class__):
        def usage(self, parts, folder):
            memory = {**{part.pid: 70.0 for part in parts if part.pid == 10}, **children}
            return {pid: Usage("web", "", pid, 0.0, mb, mb, 0) for pid, mb in memory.items()}

    running = serving("gunicorn", Machine())
    running.kill_worker()
    assert running.supervised.calls == [("signal", killed, "KILL")]
