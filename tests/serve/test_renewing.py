"""Test that setups replace their workers under load, as their files specify."""

import contextlib
import threading
import urllib.error
import urllib.request

import psutil
import pytest

from loadtests import setups
from loadtests.errors import UserError
from tests.fixtures.served import processes, served
from tests.fixtures.waiting import wait_for

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("own_database")]

RENEWING = {name: setup.renews for name, setup in setups.known().items() if setup.renews}
BY_NUMBER = [name for name, ways in RENEWING.items() if "max-requests" in ways]


def workers(running):
    """Return the pids of the processes that run Django, which are children of supervisor's programs."""
    first = {program.pid for program in running._servers()}
    found = set()
    for one in processes(running):
        with contextlib.suppress(psutil.NoSuchProcess):  # the process may have ended
            if one.ppid() in first and one.memory_info().rss > 20e6:
                found.add(one.pid)
    return found


def ask(running):
    """Request the root page. Return the status of the answer, or None if there is no answer."""
    try:
        with urllib.request.urlopen(f"{running.url}/", timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RENEWING)
def test_reload_replaces_all_workers(name):
    statuses = []
    with served(name, WORKERS="2") as running:
        before, over = workers(running), threading.Event()
        assert len(before) >= 2
        asking = threading.Thread(target=lambda: [statuses.append(ask(running)) for _ in iter(over.is_set, True)])
        asking.start()
        running.reload()
        wait_for(lambda: not before & workers(running), "the workers are still there")
        wait_for(lambda: ask(running) == 200, "it does not answer again")
        over.set()
        asking.join()
    assert 200 in statuses
    if name == "gunicorn":  # other servers may lose requests
        assert set(statuses) == {200}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BY_NUMBER)
def test_workers_are_replaced_after_requests(name):
    with served(name, WORKERS="2", MAX_REQUESTS="8", MAX_REQUESTS_JITTER="2") as running:
        before = workers(running)
        wait_for(lambda: ask(running) and not before & workers(running), "the workers are still there")


@pytest.mark.exhaustive
def test_killed_process_is_a_worker():
    with served("gunicorn", WORKERS="2") as running:
        before, [master] = workers(running), running._servers()
        running.kill_worker()
        wait_for(lambda: len(before & workers(running)) == 1)
        wait_for(lambda: len(workers(running)) == 2)
        assert [one.pid for one in running._servers()] == [master.pid]
        with pytest.raises(UserError, match=r"^the signal HUP can't be sent to process 1, which no longer"):
            running.supervised.signal(1, "HUP")
        assert psutil.pid_exists(1)
