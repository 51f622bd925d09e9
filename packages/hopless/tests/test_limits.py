"""Test the maximum number of threads, the replacement of threads, and the counters."""

import asyncio
import threading
import weakref

import hopless
import pytest
from asgiref.sync import sync_to_async
from django.core.signals import request_finished
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path
from hopless import get_asgi_application
from hopless.threads import RequestThread, Threads

from tests.conftest import ask, run

VIEW_TIMEOUT_S = 10
order, running, most = [], [], []
going_on = threading.Event()


def view(request):
    """Record the order and the number of running requests, and wait until the test sets ``going_on``."""
    order.append(request.GET["name"])
    running.append(1)
    most.append(len(running))
    going_on.wait(VIEW_TIMEOUT_S)
    running.pop()
    return HttpResponse()


async def waits_for_an_upstream(request):
    await sync_to_async(threading.get_ident)()
    await asyncio.sleep(60 if "long" in request.GET else 0)
    await sync_to_async(threading.get_ident)()
    return HttpResponse("waited")


async def asynchronous(request):
    return HttpResponse("asynchronous")


urlpatterns = [path("view/", view), path("upstream/", waits_for_an_upstream), path("async/", asynchronous)]


@pytest.fixture(autouse=True)
def settings():
    for recorded in (order, running, most):
        recorded.clear()
    going_on.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        yield
    going_on.set()


async def start(app, *paths, **options):
    """Start requests one after another, and return their tasks."""
    tasks = []
    for one in paths:
        tasks.append(asyncio.create_task(ask(app, one, **options)))
        for _ in range(5):
            await asyncio.sleep(0)
    return tasks


async def until(condition):
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("number", [1, 3])
def test_requests_queue_in_order(number):
    app = get_asgi_application(max_threads=number)
    names = [str(number) for number in range(8)]

    async def main():
        requests = await start(app, *(f"/view/?name={name}" for name in names))
        await until(lambda: len(running) == number)
        waiting = hopless.counters()["requests_waiting"]
        going_on.set()
        return waiting, [answer[0] for answer in await asyncio.gather(*requests)]

    assert asyncio.run(main()) == (8 - number, [200] * 8)
    assert max(most) == number
    assert order == names if number == 1 else set(order) == set(names)


def test_asynchronous_view_does_not_wait():
    app = get_asgi_application(max_threads=1)

    async def main():
        [request] = await start(app, "/view/?name=a")
        answer = await ask(app, "/async/")
        assert not request.done()
        going_on.set()
        await request
        return answer[2]

    assert asyncio.run(main()) == b"asynchronous"


def test_waiting_asynchronous_view_uses_no_place():
    app = get_asgi_application(max_threads=1)
    going_on.set()

    async def main():
        [waits] = await start(app, "/upstream/?long=1")
        await until(lambda: hopless.counters()["threads_busy"] >= 1)
        answer = await ask(app, "/view/?name=a")
        waits.cancel()
        return answer[0]

    assert asyncio.run(main()) == 200


def receiver(**kwargs):
    """Do nothing. The end of each request needs a thread, because this receiver isn't one of Django's."""


@pytest.mark.parametrize("receivers", [[], [receiver]], ids=["Django's receivers", "another receiver"])
def test_disconnected_client_leaves_the_queue(monkeypatch, receivers):
    monkeypatch.setattr(request_finished, "receivers", request_finished.receivers.copy())
    for function in receivers:
        request_finished.connect(function)
    app = get_asgi_application(max_threads=1)

    async def main():
        first = await start(app, "/view/?name=first")
        await until(lambda: running)
        gone = await start(app, "/view/?name=gone", gone_after=0.01)
        last = await start(app, "/view/?name=last")
        await asyncio.wait(gone, timeout=VIEW_TIMEOUT_S / 2)
        assert gone[0].done()
        going_on.set()
        await asyncio.gather(*first, *last)
        await until(lambda: app._threads.limit._free == 1)

    asyncio.run(main())
    assert order == ["first", "last"]
    assert not app._threads.busy


def test_started_requests_precede_new_requests():
    threads = Threads(5, max_threads=1)
    started, busy, new = RequestThread(threads), RequestThread(threads), RequestThread(threads)
    started.submit(order.append, "started").result(10)
    holding = busy.submit(going_on.wait)
    futures = [new.submit(order.append, "new"), started.submit(order.append, "resumed")]
    going_on.set()
    for future in (holding, *futures):
        future.result(10)
    assert order == ["started", "resumed", "new"]


def test_finishing_ignores_the_limit():
    threads = Threads(5, max_threads=1)
    finishing, busy = RequestThread(threads), RequestThread(threads)
    finishing.submit(order.append, "view").result(10)
    busy.submit(going_on.wait)
    assert finishing.submit(order.append, "cancelled").cancel()
    finishing.finishing = True
    finishing.submit(order.append, "finished").result(10)
    assert order == ["view", "finished"]


def test_all_requests_finish_despite_the_limit():
    """Check requests with two jobs: the view, and the check of the thread's database connection."""
    with override_settings(ROOT_URLCONF="tests.project.urls"):
        app = get_asgi_application(max_threads=2)

        async def main():
            answers = await asyncio.gather(*(ask(app, "/users/") for _ in range(30)))
            await until(lambda: app._threads.limit._free == 2)
            return answers

        assert {answer[0] for answer in asyncio.run(main())} == {200}
    assert not app._threads.busy


@pytest.mark.parametrize(("requests", "started"), [(0, 1), (2, 3)])
def test_threads_are_replaced_after_max_requests(requests, started):
    app = get_asgi_application(max_requests=requests)
    going_on.set()
    run(*(ask(app, f"/view/?name={number}") for number in range(5)))
    assert app._threads.started == started


def test_counters_include_threads_and_connections(monkeypatch):
    monkeypatch.setattr(Threads, "every", weakref.WeakSet())
    with override_settings(ROOT_URLCONF="tests.project.urls"):
        app = get_asgi_application()
        run(ask(app, "/users/"))
    assert hopless.counters() == {
        "threads_busy": 0,
        "threads_idle": 1,
        "threads_started": 1,
        "connections_open": 1,
        "requests_waiting": 0,
    }
