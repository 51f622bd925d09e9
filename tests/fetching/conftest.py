"""Provide origins, all HTTP clients, and requests to the fetching views over Django's WSGI and ASGI handlers."""

import asyncio
import contextlib
import dataclasses
import os

import django
import pytest
from django.core.cache import cache
from django.test import AsyncClient, Client, override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from fetching import clients, resilience  # noqa: E402
from testproject.settings.fetching import fetching  # noqa: E402

from tests.fixtures.fetches import Fetcher, Origin, aclose_own, close  # noqa: E402


@pytest.fixture
def origin():
    """Return a function that starts an origin with a recipe."""
    with contextlib.ExitStack() as stack:

        def play(recipe):
            playing = Origin(recipe)
            stack.callback(playing.stop)
            return playing

        yield play


@pytest.fixture(params=[*clients.OF_THREADS, *clients.OF_LOOPS])
def fetcher(request):
    """Return a function that creates a client that fetches from a URL. Keyword arguments change its settings."""
    with contextlib.ExitStack() as stack:

        def make(url, folder=None, **changes):
            wanted = dataclasses.replace(fetching({}), **changes)
            made = Fetcher(request.param, wanted, f"{url}/", folder)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def served(origin):
    """Return a function that sets the URL from which the views fetch. Keyword arguments change the views' settings.

    Clients, breakers and cached answers are removed before and after the test.
    """
    with contextlib.ExitStack() as stack:

        def serve(url, **changes):
            wanted = dataclasses.replace(fetching({}), url=url, **changes)
            stack.enter_context(override_settings(FETCHING=wanted, ALLOWED_HOSTS=["testserver"]))

        _forget()
        yield serve
        _forget()


def _forget():
    while clients._of_threads:
        close(clients._of_threads.pop())
    resilience.of_process.cache_clear()
    cache.clear()


@pytest.fixture(params=["wsgi", "asgi"])
def ask(request):
    """Return a function that requests paths one after another through Django's WSGI or ASGI handler."""

    async def through_asgi(paths, headers):
        client = AsyncClient(raise_request_exception=False)
        try:
            return [await client.get(path, headers=headers) for path in paths]
        finally:
            await aclose_own()
            await asyncio.sleep(0.01)

    def through_wsgi(paths, headers):
        client = Client(raise_request_exception=False)
        return [client.get(path, headers=headers) for path in paths]

    def answers_to(*paths, **headers):
        return through_wsgi(paths, headers) if request.param == "wsgi" else asyncio.run(through_asgi(paths, headers))

    answers_to.handler = request.param
    return answers_to
