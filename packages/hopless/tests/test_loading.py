"""Test that projects and monitoring agents can patch and observe the application as with stock Django."""

import asyncio
import functools
import threading

import pytest
from asgiref.sync import ThreadSensitiveContext, iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core import asgi
from django.core.handlers import base
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_finished, request_started
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path
from hopless import get_asgi_application, middleware

from tests.conftest import ask, run
from tests.counting import counted
from tests.project.settings import SEVEN

CSRF = "django.middleware.csrf.CsrfViewMiddleware"
found = {}


class CountsItself:
    """Middleware that counts its instances and reads the setting MIDDLEWARE."""

    sync_capable = False
    async_capable = True

    def __init__(self, get_response):
        self.get_response = get_response
        found["created"] = found.get("created", 0) + 1
        found["names"] = list(settings.MIDDLEWARE)
        markcoroutinefunction(self)

    async def __call__(self, request):
        return await self.get_response(request)


async def cancels_itself(request):
    asyncio.current_task().cancel()
    return HttpResponse("sent")


async def thread_of_context(request):
    found["executor"] = await sync_to_async(lambda: threading.current_thread().name)()
    return HttpResponse()


urlpatterns = [path("cancels-itself/", cancels_itself), path("thread/", thread_of_context)]


def test_process_view_stays_synchronous():
    with override_settings(MIDDLEWARE=[CSRF]):
        instance = middleware.known(CSRF)(ASGIHandler().get_response_async)
    assert not iscoroutinefunction(instance.process_view)


def wrap_as_sentry_does(monkeypatch, names):
    """Wrap each imported middleware as sentry-sdk 2.40 does, which hides ``process_view`` from iscoroutinefunction."""
    original = base.import_string

    def wrapped_import(dotted_path):
        cls = original(dotted_path)
        names.append(dotted_path)

        class Wrapped(cls):
            def __init__(self, get_response):
                super().__init__(get_response)
                if hasattr(self, "process_view"):
                    hook = self.process_view

                    @functools.wraps(hook)
                    def process_view(*args, **kwargs):
                        return hook(*args, **kwargs)

                    self.process_view = process_view

        return Wrapped

    monkeypatch.setattr(base, "import_string", wrapped_import)


@pytest.mark.parametrize("route", ["/ok/", "/async/ok/"])
def test_wrapped_middleware_is_supported(monkeypatch, route):
    names = []
    wrap_as_sentry_does(monkeypatch, names)
    app = get_asgi_application()
    with counted() as counts:
        [answer] = run(ask(app, route))
    assert answer[0] == 200
    assert sorted(names) == sorted(SEVEN)
    assert counts.hops == (route == "/ok/")


def test_patched_handler_is_called(monkeypatch):
    called = []
    original = ASGIHandler.__call__

    async def patched(self, scope, receive, send):
        called.append(scope["path"])
        await original(self, scope, receive, send)

    app = get_asgi_application()
    monkeypatch.setattr(ASGIHandler, "__call__", patched)
    assert run(ask(app, "/ok/"))[0][0] == 200
    assert called == ["/ok/"]


def test_result_of_patched_factory_is_returned(monkeypatch):
    original = asgi.get_asgi_application
    monkeypatch.setattr(asgi, "get_asgi_application", lambda: ("wrapped", original()))
    word, app = get_asgi_application()
    assert word == "wrapped"
    assert run(ask(app, "/ok/"))[0][0] == 200
    assert asgi.ASGIHandler is ASGIHandler


def test_middleware_is_created_once():
    found.clear()
    names = [*SEVEN, f"{__name__}.CountsItself"]
    with override_settings(MIDDLEWARE=names):
        get_asgi_application()
    assert found == {"created": 1, "names": names}


def test_django_classes_are_restored():
    from django.middleware import csrf

    before = csrf.CsrfViewMiddleware
    get_asgi_application()
    assert csrf.CsrfViewMiddleware is before
    assert not issubclass(before, middleware.HopsToBlock)


def test_unknown_middleware_raises_import_error():
    with override_settings(MIDDLEWARE=["nowhere.Middleware"]), pytest.raises(ImportError, match="nowhere"):
        get_asgi_application()


@pytest.mark.parametrize("signal", [request_started, request_finished], ids=["started", "finished"])
def test_receivers_of_djangos_handler_are_called(signal):
    senders = []

    def receiver(sender, **_):
        senders.append(sender)

    signal.connect(receiver, sender=ASGIHandler)
    try:
        run(ask(get_asgi_application(), "/async/ok/"))
    finally:
        signal.disconnect(receiver, sender=ASGIHandler)
    assert senders == [ASGIHandler]


@pytest.mark.parametrize("make", [asgi.get_asgi_application, get_asgi_application])
def test_outer_thread_sensitive_context_is_used(make):
    async def main():
        async with ThreadSensitiveContext():
            outer = await sync_to_async(lambda: threading.current_thread().name)()
            await ask(make(), "/thread/")
        return outer

    with override_settings(ROOT_URLCONF=__name__):
        assert asyncio.run(main()) == found["executor"]


@pytest.mark.skipif(not hasattr(asyncio.Task, "cancelling"), reason="Python 3.10 doesn't count cancellations")
def test_self_cancelled_view_sends_nothing():
    async def sending(message):
        raise AssertionError(message)

    async def main():
        request = asyncio.create_task(ask(get_asgi_application(), "/cancels-itself/", sending=sending))
        await asyncio.wait([request])
        return request.cancelled()

    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[]):
        assert asyncio.run(main())
