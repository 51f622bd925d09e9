"""Test that requests don't see the state of earlier requests, even if a client disconnects."""

import asyncio
import contextvars
import threading
from concurrent.futures import Future

import pytest
from asgiref.current_thread_executor import CurrentThreadExecutor
from asgiref.sync import AsyncToSync, sync_to_async
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application as djangos
from django.core.signals import request_finished
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path
from django.utils.deprecation import MiddlewareMixin
from hopless import get_asgi_application

from tests.conftest import ask, run

THIS = __name__
local = threading.local()
user = contextvars.ContextVar("user", default=None)


class RemembersUser(MiddlewareMixin):
    """Store the user of a request in a thread-local variable until the response."""

    def process_request(self, request):
        request.found = getattr(local, "user", None)
        local.user = request.GET.get("user")

    def process_response(self, request, response):
        local.user = None
        return response


def synchronous(get_response):
    def middleware(request):
        return get_response(request)

    return middleware


async def waits(request):
    if "wait" in request.GET:
        await asyncio.sleep(60)
    return HttpResponse(str(request.found))


async def opens_a_transaction(request):
    def begin():
        User.objects.count()
        transaction.atomic().__enter__()

    await sync_to_async(begin)()
    if "wait" in request.GET:
        await asyncio.sleep(60)
    return HttpResponse()


async def sets_a_variable(request):
    before = user.get()
    user.set(request.GET.get("user"))
    return HttpResponse(str(before))


async def own_task(request):
    task = asyncio.current_task()
    before = getattr(task, "user", None)
    return HttpResponse(f"{before} {id(task)}")


def tenant(request):
    connection.ensure_connection()
    before = getattr(connection, "tenant", None)
    connection.tenant = request.GET.get("user")
    return HttpResponse(str(before))


async def leaves_an_ended_executor(request):
    executor, call = CurrentThreadExecutor(None), Future()
    call.set_result(None)
    executor.run_until_future(call)
    AsyncToSync.executors.current = executor
    await asyncio.sleep(60)


async def slow(request):
    await asyncio.sleep(0.02)
    return HttpResponse("slow")


urlpatterns = [
    path("waits/", waits), path("transaction/", opens_a_transaction), path("variable/", sets_a_variable),
    path("task/", own_task), path("tenant/", tenant), path("slow/", slow),
    path("ended-executor/", leaves_an_ended_executor),
]  # fmt: skip


@pytest.fixture(autouse=True)
def urls():
    with override_settings(ROOT_URLCONF=THIS):
        yield


def test_cancelled_request_leaves_no_thread_local():
    with override_settings(MIDDLEWARE=[f"{THIS}.RemembersUser"]):
        app = get_asgi_application()
        gone, after = run(ask(app, "/waits/?user=ada&wait=1", gone_after=0.01), ask(app, "/waits/"))
    assert gone is None
    assert after[2] == b"None"


def test_answered_request_keeps_its_thread():
    with override_settings(MIDDLEWARE=[f"{THIS}.RemembersUser"]):
        app = get_asgi_application()
        run(ask(app, "/waits/"), ask(app, "/waits/"))
    assert len(app._threads.idle) == 1
    assert app._threads.started == 1


@pytest.mark.parametrize("gone_after", [None, 0.05])
def test_open_transaction_ends_its_thread(gone_after):
    with override_settings(MIDDLEWARE=[]):
        app = get_asgi_application()
        wait = "" if gone_after is None else "?wait=1"
        run(ask(app, f"/transaction/{wait}", gone_after=gone_after))
        assert not app._threads.idle
        with override_settings(ROOT_URLCONF="tests.project.urls"):
            answers = run(ask(app, "/users/"), ask(app, "/users/"))
    assert [answer[0] for answer in answers] == [200, 200]


def test_failing_send_ends_the_thread():
    async def sending(message):
        raise OSError("the connection is gone")

    with override_settings(ROOT_URLCONF="tests.project.urls"):
        app = get_asgi_application()
        with pytest.raises(OSError, match="is gone"):
            run(ask(app, "/users/", sending=sending))
    assert [*app._threads.idle, *app._threads.busy] == []


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
@pytest.mark.parametrize(("where", "kept"), [("/users/", 1), ("/async/session/", 1), ("/stream/", 0)])
def test_thread_is_kept_unless_stream_is_cut(where, kept):
    """Disconnect while the end of the response is sent, as Hypercorn does for the last response of a connection."""
    gone = threading.Event()

    async def sending(message):
        if message["type"] == "http.response.body":
            gone.set()
            await asyncio.sleep(60)

    with override_settings(ROOT_URLCONF="tests.project.urls"):
        app = get_asgi_application()
        run(ask(app, where, gone_after=gone.wait, sending=sending))
    assert len(app._threads.idle) == kept


def test_context_variables_end_with_the_request():
    with override_settings(MIDDLEWARE=[]):
        app = get_asgi_application()
        answers = run(ask(app, "/variable/?user=ada"), ask(app, "/variable/"))
    assert [answer[2] for answer in answers] == [b"None", b"None"]


def test_requests_have_separate_tasks():
    with override_settings(MIDDLEWARE=[]):
        app = get_asgi_application()
        first, second = run(ask(app, "/task/"), ask(app, "/task/"))
    assert first[2] != second[2]


@pytest.mark.parametrize("age", [0, 600])
def test_connection_state_ends_with_connection(monkeypatch, age):
    """Check that a persistent connection keeps its state, as under WSGI, and that a closed connection doesn't."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", age)
    with override_settings(MIDDLEWARE=[]):
        app = get_asgi_application()
        answers = run(ask(app, "/tenant/?user=ada"), ask(app, "/tenant/"))
    assert [answer[2] for answer in answers] == [b"None", b"ada" if age else b"None"]


def test_ended_executor_is_not_used():
    """Check requests in whose context asgiref left the ended executor of a cancelled ``async_to_sync`` call.

    Stock Django 5.2 would pass this test. Stock Django 6.1 would fail, because it runs the view in the server's task.
    """
    finished = []

    def receiver(**_):
        finished.append(threading.current_thread())

    request_finished.connect(receiver)
    try:
        with override_settings(MIDDLEWARE=[]):
            assert run(ask(get_asgi_application(), "/ended-executor/", gone_after=0.01)) == [None]
    finally:
        request_finished.disconnect(receiver)
    assert len(finished) == 1


def test_requests_finish_despite_disconnections():
    finished = []

    def receiver(**_):
        finished.append(threading.current_thread())

    async def main():
        app = get_asgi_application()
        return await asyncio.gather(
            *(ask(app, "/slow/", gone_after=0.001 * (number % 7)) for number in range(50)), return_exceptions=True
        )

    request_finished.connect(receiver)
    try:
        with override_settings(MIDDLEWARE=[f"{THIS}.synchronous"]):
            answers = asyncio.run(main())
    finally:
        request_finished.disconnect(receiver)
    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    assert len(finished) == 50


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_receivers_can_change_server_context(make):
    """Check that context variables set by receivers reach ASGI middleware, which agents use to end transactions."""
    state = contextvars.ContextVar("state")

    def end(**_):
        state.set("ended")

    async def main():
        state.set("active")
        await ask(make(), "/ok/")
        return state.get()

    request_finished.connect(end)
    try:
        assert asyncio.run(main()) == "ended"
    finally:
        request_finished.disconnect(end)
