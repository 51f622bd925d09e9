"""Test the exact number of hops between threads in a request."""

import asyncio
import gc
import sys

import pytest
from django.core.asgi import get_asgi_application as djangos
from django.http import HttpRequest
from django.test import override_settings
from hopless import get_asgi_application

from tests.conftest import ask
from tests.counting import counted
from tests.project.settings import SEVEN


def served(app, *paths, **options):
    """Request several paths, and return the numbers of hops and started threads in the last request."""

    async def main():
        for path in paths[:-1]:
            await ask(app, path, **options)
        with counted() as counts:
            assert (await ask(app, paths[-1], **options))[0] == 200
        return counts.hops, counts.threads

    return asyncio.run(main())


def test_stock_django_hops_sixteen_times():
    assert served(djangos(), "/ok/", "/ok/") == (16, 2)
    assert served(djangos(), "/async/ok/", "/async/ok/") == (15, 2)


def test_synchronous_view_hops_once():
    assert served(get_asgi_application(), "/ok/", "/ok/") == (1, 0)


def test_database_query_adds_a_hop():
    assert served(get_asgi_application(), "/users/", "/users/") == (2, 0)


@pytest.mark.parametrize(("place", "hops"), [(0, [2, 1]), (3, [2, 1]), (7, [2, 1])])
def test_synchronous_middleware_adds_a_hop(place, hops):
    """Check synchronous middleware before, between and after Django's middleware."""
    synchronous = "tests.project.middleware.synchronous"
    with override_settings(MIDDLEWARE=[*SEVEN[:place], synchronous, *SEVEN[place:]]):
        app = get_asgi_application()
        assert [served(app, path, path)[0] for path in ("/ok/", "/async/ok/")] == hops


def test_asynchronous_view_does_not_hop():
    assert served(get_asgi_application(), "/async/ok/", "/async/ok/") == (0, 0)


def test_threads_start_on_demand():
    assert served(get_asgi_application(), "/ok/") == (1, 1)


def test_middleware_without_substitutes_hops():
    hops, threads = served(get_asgi_application(substitute=False), "/ok/", "/ok/")
    assert (hops, threads) == (14, 0)  # 16 with stock Django, which also hops for two signals


def test_whole_request_uses_one_hop():
    with override_settings(MIDDLEWARE=["tests.project.middleware.Mixed"] * 3):
        assert served(get_asgi_application(whole=True), "/ok/", "/ok/") == (1, 0)
        assert served(get_asgi_application(), "/ok/", "/ok/")[0] == 1 + 3 * 3


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
@pytest.mark.parametrize(
    ("path", "hops"),
    [
        ("/async/token/", 0),
        ("/async/session/", 2),  # to write the session, and to check the thread's connection
        ("/async/stream/", 1),
        ("/stream/", 3),
        ("/template/", 2),
    ],
)
def test_only_blocking_code_hops(path, hops):
    found, threads = served(get_asgi_application(), path, path)
    assert threads == 0
    assert found == hops


@pytest.mark.skipif(sys.version_info < (3, 11), reason="contextlib creates tracebacks that are reference cycles")
@pytest.mark.parametrize("path", ["/ok/", "/async/ok/"])
def test_request_creates_no_reference_cycles(path):
    """Check requests without middleware, because Django's middleware creates cycles of requests and their users."""
    with override_settings(MIDDLEWARE=[]):
        app = get_asgi_application()

        async def main():
            await ask(app, path)
            gc.collect()
            gc.disable()
            for _ in range(10):
                await ask(app, f"{path}?measured")
            await asyncio.sleep(0)

        try:
            gc.set_debug(gc.DEBUG_SAVEALL)  # collected objects are stored in gc.garbage
            asyncio.run(main())
            gc.garbage.clear()
            gc.collect()
            # Ignore requests of earlier tests, which can still be collected during this test.
            requests = [one for one in gc.garbage if isinstance(one, HttpRequest)]
            assert [one for one in requests if "measured" in one.GET] == []
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()


def test_third_party_receivers_hop():
    from django.core.signals import request_finished, request_started

    seen = []

    def receiver(signal, **_):
        seen.append(signal)

    for signal in (request_started, request_finished):
        signal.connect(receiver)
    try:
        assert served(get_asgi_application(), "/async/ok/", "/async/ok/") == (2, 0)
    finally:
        for signal in (request_started, request_finished):
            signal.disconnect(receiver)
    assert seen == [request_started, request_finished] * 2


def test_overridden_hook_may_block():
    from hopless.middleware import SecurityMiddleware, known

    class Own(SecurityMiddleware):
        def process_response(self, request, response):
            return super().process_response(request, response)

    class Renamed(SecurityMiddleware):
        colour = "red"

    assert not Own.blocks
    assert Renamed.blocks is known("django.middleware.security.SecurityMiddleware").blocks


def test_django_settings_stay_unchanged():
    from django.conf import settings

    get_asgi_application()
    assert settings.MIDDLEWARE == settings.SEVEN
