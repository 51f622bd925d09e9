"""What could go wrong where threads are kept and hops are left out: tasks that stay, clients that go, forks, floods."""

import asyncio
import gc
import json
import os
import sys
import threading
import time
from contextlib import suppress

import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application as djangos
from django.db import connections
from django.db.backends.signals import connection_created
from django.test import override_settings
from hopless import get_asgi_application
from hopless.threads import IdleThreads, RequestThread

from tests.conftest import ask
from tests.project.urls import later, stop


@pytest.fixture(params=[{}, {"whole": True}, {"idle_threads": 0}], ids=["ours", "whole", "no idle threads"])
def app(request):
    return get_asgi_application(**request.param)


def run(*coroutines):
    async def main():
        return [await one for one in coroutines]

    return asyncio.run(main())


def hopless_threads():
    return sum(thread.name.startswith("hopless") for thread in threading.enumerate())


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_a_task_that_outlives_its_request_can_ask_the_database(make):
    app = make()

    async def main():
        await ask(app, "/outlives/")
        await later["task"]
        return later["outlives"]

    assert asyncio.run(main()) == User.objects.count()


def test_a_job_that_nobody_waits_for_holds_up_no_other_request(app):
    """It ends before its request is closed, as with Django's own; the others have threads of their own meanwhile."""
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


def test_a_thread_is_given_back_when_all_that_was_submitted_is_done():
    idle = IdleThreads(5)
    thread = RequestThread(idle)
    going_on = threading.Event()
    thread.submit(going_on.wait)
    thread.submit(print).cancel()
    thread.release()
    assert not idle._idle
    going_on.set()
    deadline = time.monotonic() + 10
    while not idle._idle and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(idle._idle) == 1


def test_the_jobs_of_a_request_share_a_thread(app):
    [answer] = run(ask(app, "/same-thread/"))
    assert answer[2] == b"True"


def test_a_threading_local_stays_in_its_thread_as_under_wsgi():
    """A kept thread is like one of a threaded WSGI server; without idle threads each request has its own."""

    def found(**options):
        app = get_asgi_application(**options)
        answers = run(ask(app, "/in-thread/?leave=mine"), ask(app, "/in-thread/"))
        return [json.loads(answer[2])["left"] for answer in answers]

    assert found() == [None, "mine"]
    assert found(idle_threads=0) == [None, None]


@pytest.mark.parametrize("path", ["/async/slow/", "/slow/"])
def test_a_client_that_goes_gets_nothing_and_the_next_one_all(app, path):
    gone, after = run(ask(app, path, gone_after=0.05), ask(app, "/ok/"))
    assert gone is None or gone[0] == 200  # a thread cannot be stopped: its answer may still be sent
    assert after[2] == b"ok"


def test_a_view_is_cancelled_where_its_client_goes(app):
    later.pop("cancelled", None)
    assert run(ask(app, "/waits-for-ever/", gone_after=0.01)) == [None]
    assert later["cancelled"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout")
def test_a_view_and_its_client_that_goes_can_both_cancel(app):
    """The view runs in the server's task: each cancellation ends what it is meant for."""
    in_time, gone = run(ask(app, "/times-out/?after=0.01"), ask(app, "/times-out/?after=60", gone_after=0.01))
    assert in_time[2] == b"in time"
    assert gone is None


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_a_connection_that_is_opened_after_the_client_has_gone_is_closed(make):
    app = make()
    opened = []

    def remember(connection, **_):
        opened.append(connection)

    async def main():
        later["asking"] = threading.Event()
        stop.clear()
        request = asyncio.create_task(ask(app, "/asks-late/", gone_after=0.01))
        await asyncio.to_thread(later["asking"].wait, 10)
        await asyncio.sleep(0.05)
        stop.set()
        await request

    connection_created.connect(remember)
    connections.settings["default"]["CONN_MAX_AGE"] = 0
    try:
        asyncio.run(main())
    finally:
        connections.settings["default"]["CONN_MAX_AGE"] = 600
        connection_created.disconnect(remember)
    assert [one.connection for one in opened] == [None]


def test_a_server_that_stops_cancels_the_request(app):
    """Its view has cleaned up before the request ends, and no task of it goes on."""
    later.pop("cancelled", None)

    async def main():
        request = asyncio.create_task(ask(app, "/waits-for-ever/"))
        await asyncio.sleep(0.05)
        request.cancel()
        with suppress(asyncio.CancelledError):
            await request
        assert request.cancelled()
        assert later["cancelled"]
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1


def test_a_response_that_streams_is_closed_where_its_client_goes(app):
    later.pop("closed", None)
    [answer] = run(ask(app, "/streams-for-ever/", gone_after=0.05))
    assert answer[2].startswith(b"part,part,")
    assert later["closed"]


@pytest.mark.parametrize("path", ["/post/", "/async/post/"])
def test_a_body_that_comes_in_parts_is_one(app, path):
    parts = [b"a=", b"x" * 100_000, b"y" * 3_000_000, b"&csrfmiddlewaretoken=" + b"a" * 32]

    async def main(app):
        coming = iter(parts)
        sent = []

        async def receive():
            part = next(coming, None)
            if part is None:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": part, "more_body": part is not parts[-1]}

        async def send(message):
            sent.append(message)

        form = b"application/x-www-form-urlencoded"
        headers = [(b"host", b"testserver"), (b"content-type", form), (b"cookie", b"csrftoken=" + b"a" * 32)]
        headers.append((b"content-length", str(sum(map(len, parts))).encode()))
        await app({"type": "http", "method": "POST", "path": path, "headers": headers}, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])

    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10_000_000):
        assert asyncio.run(main(app)) == asyncio.run(main(djangos())) == (200, b"x" * 100_000 + b"y" * 3_000_000)


class HostsOfTheDatabase(list):
    """ALLOWED_HOSTS that asks the database, as projects with a site for each customer have it."""

    def __iter__(self):
        User.objects.count()
        return iter(["testserver"])


def test_allowed_hosts_that_ask_the_database_need_substitute_false():
    with override_settings(ALLOWED_HOSTS=HostsOfTheDatabase()):
        answers = run(ask(get_asgi_application(), "/ok/"), ask(get_asgi_application(substitute=False), "/ok/"))
    assert [answer[0] for answer in answers] == [500, 200]


def test_a_client_that_goes_before_its_request_is_whole_is_no_request(app):
    async def main():
        async def receive():
            return {"type": "http.disconnect"}

        sent = []
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await app(scope, receive, sent.append)
        return sent

    assert asyncio.run(main()) == []


def test_what_is_not_http_is_refused_as_django_refuses_it(app):
    with pytest.raises(ValueError, match="Django can only handle ASGI/HTTP connections, not websocket"):
        run(app({"type": "websocket"}, None, None))


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


def test_persistent_connections_are_kept_and_none_leaks():
    """CONN_MAX_AGE is set: a connection a thread, for as long as the thread is kept."""
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
        thread.join(0.2)  # those that were too many end
    assert sum(connection.connection is not None for connection in opened) <= 2


def test_a_thousand_slow_requests_at_once_wait_for_none_of_the_others():
    """Each has a thread at the same time: the last of them lets all go on."""
    later["barrier"] = threading.Barrier(1_000)
    app = get_asgi_application(idle_threads=3)

    async def main():
        answers = await asyncio.gather(*(ask(app, "/all-at-once/") for _ in range(1_000)))
        return {answer[0] for answer in answers}

    assert asyncio.run(main()) == {200}
    deadline = time.monotonic() + 30
    while hopless_threads() > 100 and time.monotonic() < deadline:  # those of other tests are there as well
        time.sleep(0.01)
    assert hopless_threads() <= 100


@pytest.mark.parametrize("number", [1_000, pytest.param(50_000, marks=pytest.mark.exhaustive)])
@pytest.mark.timeout(600)
def test_many_requests_of_each_kind_leave_neither_threads_nor_objects(number):
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
    assert objects_after - objects < 500  # less than one for each request
    assert kilobytes_after - kilobytes < 10_000  # 50 bytes a request of 100,000 would be half of it


def memory():
    """What the process has resident, in kB; 0 where /proc does not say."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    except OSError:
        return 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_begins_without_the_threads_of_its_parent(app):
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
