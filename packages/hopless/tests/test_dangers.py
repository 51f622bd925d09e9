"""Test the risks of kept threads and fewer hops: tasks that outlive requests, forks, and many requests."""

import asyncio
import gc
import json
import os
import threading
import time

import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application as djangos
from django.db import connections
from django.db.backends.signals import connection_created
from django.test import override_settings
from hopless import get_asgi_application
from hopless.threads import RequestThread, Threads

from tests.conftest import ask, run
from tests.project.urls import later, stop


def hopless_threads():
    return sum(thread.name.startswith("hopless") for thread in threading.enumerate())


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_task_can_outlive_its_request(make):
    app = make()

    async def main():
        await ask(app, "/outlives/")
        await later["task"]
        return later["outlives"]

    assert asyncio.run(main()) == User.objects.count()


def test_background_job_does_not_delay_requests(app):
    """Check that a request waits for its own job, as in Django's application, but not for jobs of other requests."""
    stop.clear()

    async def main():
        leaving = asyncio.create_task(ask(app, "/leaves-a-job/"))
        await asyncio.sleep(0.05)
        answer = await ask(app, "/in-thread/")
        assert not later["job"].done()
        stop.set()
        await leaving
        return answer[0]

    assert asyncio.run(main()) == 200


def test_unfinished_work_ends_the_thread():
    threads = Threads(5)
    thread = RequestThread(threads)
    going_on = threading.Event()
    thread.submit(going_on.wait)
    thread.submit(print).cancel()
    thread.complete = True
    worker = thread.worker
    thread.release()
    assert worker in threads.busy
    going_on.set()
    worker.shutdown(wait=True)
    assert not threads.busy
    assert not threads.idle


def test_jobs_of_request_share_thread(app):
    [answer] = run(ask(app, "/same-thread/"))
    assert answer[2] == b"True"


def test_thread_local_survives_in_kept_thread():
    """Compare kept threads, which are like threads of a WSGI server, with a new thread for each request."""

    def found(**options):
        app = get_asgi_application(**options)
        answers = run(ask(app, "/in-thread/?leave=mine"), ask(app, "/in-thread/"))
        return [json.loads(answer[2])["left"] for answer in answers]

    assert found() == [None, "mine"]
    assert found(idle_threads=0) == [None, None]


class HostsOfTheDatabase(list):
    """A value of ALLOWED_HOSTS that queries the database, as in projects with a site for each customer."""

    def __iter__(self):
        User.objects.count()
        return iter(["testserver"])


def test_allowed_hosts_query_needs_substitute_false():
    with override_settings(ALLOWED_HOSTS=HostsOfTheDatabase()):
        answers = run(ask(get_asgi_application(), "/ok/"), ask(get_asgi_application(substitute=False), "/ok/"))
    assert [answer[0] for answer in answers] == [500, 200]


def test_atomic_requests_are_rolled_back(app):
    settings = connections.settings["default"]
    settings["ATOMIC_REQUESTS"] = True
    try:
        with override_settings(ROOT_URLCONF="tests.project.urls"):
            [answer] = run(ask(app, "/creates-and-fails/?name=nobody"))
    finally:
        settings["ATOMIC_REQUESTS"] = False
    assert answer[0] == 500
    assert not User.objects.filter(username="nobody").exists()


def test_persistent_connections_do_not_leak():
    """Check that each kept thread keeps a single connection if CONN_MAX_AGE is set."""
    opened = []

    def count(connection, **_):
        opened.append(connection)

    connection_created.connect(count)
    try:
        app = get_asgi_application(idle_threads=2)

        async def main():
            for _ in range(20):
                await ask(app, "/users/")
            alone = len(opened)
            await asyncio.gather(*(ask(app, "/users/") for _ in range(6)))
            return alone

        assert asyncio.run(main()) == 1
    finally:
        connection_created.disconnect(count)
    assert len(opened) <= 1 + 6
    for thread in [one for one in threading.enumerate() if one.name.startswith("hopless")]:
        thread.join(0.2)  # surplus threads end
    assert sum(connection.connection is not None for connection in opened) <= 2


def test_slow_requests_do_not_delay_others():
    """Send 1,000 requests that wait for each other, so that each request needs a thread at the same time."""
    later["barrier"] = threading.Barrier(1_000)
    app = get_asgi_application(idle_threads=3)

    async def main():
        answers = await asyncio.gather(*(ask(app, "/all-at-once/") for _ in range(1_000)))
        return {answer[0] for answer in answers}

    assert asyncio.run(main()) == {200}
    deadline = time.monotonic() + 30
    while hopless_threads() > 100 and time.monotonic() < deadline:  # the limit allows for threads of other tests
        time.sleep(0.01)
    assert hopless_threads() <= 100


@pytest.mark.parametrize("number", [1_000, pytest.param(50_000, marks=pytest.mark.exhaustive)])
@pytest.mark.timeout(600)
def test_many_requests_leave_no_threads(number):
    app = get_asgi_application()

    async def main():
        async def some(number):
            for _ in range(number):
                await ask(app, "/ok/")
                await ask(app, "/async/ok/")

        await some(100)
        gc.collect()
        before = hopless_threads(), len(gc.get_objects()), memory()
        await some(number)
        gc.collect()
        return before, (hopless_threads(), len(gc.get_objects()), memory())

    (threads, objects, kilobytes), (threads_after, objects_after, kilobytes_after) = asyncio.run(main())
    assert threads_after <= threads
    assert objects_after - objects < 500  # Less than one object for each request.
    assert kilobytes_after - kilobytes < 10_000  # A leak of 100 bytes in each of 100,000 requests would exceed this.


def memory():
    """Return the resident memory of the process in kB, or 0 without /proc."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    except OSError:
        return 0


@pytest.mark.parametrize("limit", [None, 2])
def test_event_loops_share_threads(limit):
    app = get_asgi_application(max_threads=limit)
    answers = []

    async def main():
        for _ in range(10):
            answers.extend(await asyncio.gather(ask(app, "/users/"), ask(app, "/ok/"), ask(app, "/async/ok/")))

    loops = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(3)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join(60)
    assert [answer[0] for answer in answers] == [200] * 90
    assert not app._threads.busy


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_resets_the_limit():
    threads = Threads(5, max_threads=1)
    going_on = threading.Event()
    RequestThread(threads).submit(going_on.wait)
    if (child := os.fork()) == 0:
        try:
            done = RequestThread(threads).submit(os.getpid).result(10) == os.getpid()
            os._exit(0 if done else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    going_on.set()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_process_starts_new_threads(app):
    run(ask(app, "/ok/"))
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            [answer] = run(asyncio.wait_for(ask(app, "/ok/"), 10))
            os.write(writing, answer[2])
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"ok"
    os.close(reading)
