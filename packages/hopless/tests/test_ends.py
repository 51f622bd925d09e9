"""Test how request bodies are read, and how requests and their resources are closed."""

import asyncio
import contextlib
import os
from io import BytesIO
from unittest import mock

import pytest
from django.core.asgi import get_asgi_application as djangos
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.core.exceptions import RequestAborted
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_finished
from django.db import connections
from django.http import HttpResponse
from django.test import RequestFactory, override_settings
from django.urls import get_urlconf, path
from hopless import get_asgi_application, private
from hopless.handler import Receivers

from tests.conftest import ask, run

seen = {}


class CacheThatCloses(LocMemCache):
    def close(self, **_):
        seen["closed"] = True


class ResponseThatCloses(HttpResponse):
    def close(self):
        super().close()
        seen["closed"] = True


async def cache(request):
    assert caches["default"]
    return HttpResponse()


async def connection(request):
    connections["default"].ensure_connection()
    seen["connection"] = connections["default"]
    return HttpResponse()


async def urlconf(request):
    seen["urlconf"] = get_urlconf()
    return HttpResponse()


async def upload(request):
    seen["request"], seen["response"] = request, HttpResponse(str([one.name for one in request.FILES.values()]))
    return seen["response"]


async def own_class(request):
    return ResponseThatCloses()


async def own_method(request):
    response = HttpResponse()
    response.close = lambda: seen.setdefault("closed", True)
    return response


async def own_closer(request):
    response = HttpResponse()
    response._resource_closers.append(lambda: seen.setdefault("closed", True))
    return response


VIEWS = (cache, connection, urlconf, upload, own_class, own_method, own_closer)
urlpatterns = [path(f"{view.__name__}/", view) for view in VIEWS]
SETTINGS = {"ROOT_URLCONF": __name__, "CACHES": {"default": {"BACKEND": f"{__name__}.CacheThatCloses"}}}


def served(make, path, **options):
    """Serve a request. Return the values that it stored in ``seen``, and the urlconf after the request."""
    seen.clear()

    async def main():
        assert (await ask(make(), path, **options))[0] == 200
        return {**seen, "after": get_urlconf()}

    with override_settings(**SETTINGS):
        return asyncio.run(main())


def no_connection_stays(monkeypatch):
    monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)


@pytest.mark.parametrize("mutant", [False, True])
def test_cache_of_event_loop_is_closed(monkeypatch, mutant):
    no_connection_stays(monkeypatch)
    if mutant:
        monkeypatch.setattr(private, "nothing_is_initialised", lambda: True)
    assert ("closed" in served(get_asgi_application, "/cache/")) is not mutant
    opened = served(get_asgi_application, "/connection/")["connection"]
    assert (opened.connection is None) is not mutant
    with contextlib.suppress(AttributeError):
        opened.connection.close()


def test_initialised_cache_is_detected():
    async def observed():
        before = private.nothing_is_initialised()
        assert caches["default"]
        return before, private.nothing_is_initialised()

    with mock.patch.object(caches, "_connections", type(caches)()._connections):
        assert asyncio.run(observed()) == (hasattr(connections._connections, "_get_storage"), False)


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_urlconf_is_reset(make):
    found = served(make, "/urlconf/")
    assert (found["urlconf"], found["after"]) == (__name__, None)


@pytest.mark.parametrize("mutant", [False, True])
@pytest.mark.parametrize("kind", ["synchronous", "asynchronous", "of Django's sender"])
def test_third_party_receiver_is_called(monkeypatch, kind, mutant):
    def receiver(**_):
        seen["received"] = True

    async def asynchronous(**_):
        receiver()

    app = get_asgi_application()
    connected = asynchronous if kind == "asynchronous" else receiver
    request_finished.connect(connected, sender=ASGIHandler if kind == "of Django's sender" else None)
    if mutant:
        monkeypatch.setattr(Receivers, "need_a_thread", lambda _: False)
    try:
        assert ("received" in served(lambda: app, "/urlconf/")) is not mutant
    finally:
        request_finished.disconnect(connected, sender=ASGIHandler if kind == "of Django's sender" else None)


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
@pytest.mark.parametrize("view", ["own_class", "own_method", "own_closer"])
def test_resources_of_response_are_closed(make, view):
    assert served(make, f"/{view}/")["closed"]


@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_request_files_are_closed(make):
    form = RequestFactory().post("/upload/", {"file": SimpleUploadedFile("a.txt", b"x" * 100)})
    length = (b"content-length", str(len(form.body)).encode())
    headers = [(b"content-type", form.content_type.encode() + b"; boundary=BoUnDaRyStRiNg"), length]
    with override_settings(MIDDLEWARE=[]):
        found = served(make, "/upload/", method="POST", headers=headers, body=form.body)
    request, response = found["request"], found["response"]
    assert response.content == b"['a.txt']"
    assert [one.closed for one in (*request.FILES.values(), request._stream, response)] == [True] * 3
    assert response._resource_closers == []


BODIES = {
    "none": [{}],
    "empty": [{"body": b"", "more_body": False}],
    "one": [{"body": b"a=1"}],
    "empty parts": [{"body": b"", "more_body": True}, {}],
    "in parts": [{"body": b"a=", "more_body": True}, {"body": b"1"}],
    "with an empty part": [{"body": b"a=1", "more_body": True}, {}],
}


def read(app, messages):
    """Read a body. Return whether the body is in memory, and its content, or None if the body is incomplete."""
    coming = iter([*({"type": "http.request", **one} for one in messages), {"type": "http.disconnect"}])

    async def receive():
        return next(coming)

    with contextlib.suppress(RequestAborted):
        [file] = run(app.read_body(receive))
        with file:
            return isinstance(file, BytesIO), file.read()


@pytest.mark.parametrize("name", BODIES)
def test_empty_body_needs_no_file(name):
    assert read(djangos(), BODIES[name]) == (False, b"".join(one.get("body", b"") for one in BODIES[name]))
    assert read(get_asgi_application(), BODIES[name]) == (name in ("none", "empty"), read(djangos(), BODIES[name])[1])


@pytest.mark.parametrize("messages", [[], [{"body": b"a=", "more_body": True}]])
@pytest.mark.parametrize("make", [djangos, get_asgi_application])
def test_disconnection_aborts_incomplete_body(make, messages):
    assert read(make(), messages) is None
