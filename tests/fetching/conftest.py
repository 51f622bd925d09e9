"""Origins in a thread of the test's process, clients of every kind, and the views over both handlers of Django."""

import asyncio
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import threading
import time
import urllib.request

import django
import pytest
import uvloop
from django.core.cache import cache
from django.test import AsyncClient, Client, override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from fetching import clients, resilience  # noqa: E402
from fetching.gauges import PoolGauge  # noqa: E402
from fetching.results import FetchError  # noqa: E402
from testproject.settings.fetching import fetching  # noqa: E402

from loadtests.origin import from_json, listening  # noqa: E402

PATIENCE_S = 60.0  # for what takes milliseconds on a machine that has time
WELL = {"stages": [{"at": 0}], "body": "fine"}


def until(condition):
    """Waits until it is true, and returns it."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return found


class Origin:
    """An origin that plays recipes, with an event loop and a thread of its own."""

    def __init__(self, recipes):
        self._recipes = from_json.parse(recipes, "a.json")
        self._url = concurrent.futures.Future()
        self._thread = threading.Thread(target=lambda: uvloop.run(self._play()), daemon=True)
        self._thread.start()
        self.url = self._url.result(PATIENCE_S)

    async def _play(self):
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with listening.listening(self._recipes) as url:
            self._url.set_result(url)
            await self._over.wait()

    def stop(self):
        """Ends it, with all connections."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(PATIENCE_S)

    def play(self, recipe):
        """Plays it from now on."""
        self._asked("add_recipe", json.dumps(recipe).encode())

    def counts(self):
        return json.loads(self._asked("current_count"))

    def _asked(self, what, body=None):
        with urllib.request.urlopen(f"{self.url}/_admin/{what}", body, timeout=PATIENCE_S) as response:
            return response.read()


@pytest.fixture
def origin():
    """A function: an origin that plays a recipe."""
    with contextlib.ExitStack() as stack:

        def play(recipe):
            playing = Origin(recipe)
            stack.callback(playing.stop)
            return playing

        yield play


class Fetcher:
    """A client of either kind: ``fetch`` gives what comes of it, ``begin`` a future of that."""

    def __init__(self, name, wanted, url, folder=None):
        self.gauge = PoolGauge(folder)
        self.of_loop = name in clients.OF_LOOPS
        module = pytest.importorskip(f"fetching.{(clients.OF_THREADS | clients.OF_LOOPS)[name]}")
        if self.of_loop:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
            self.client = self._awaited(self._made(module, wanted, url)).result(PATIENCE_S)
        else:
            self._threads = concurrent.futures.ThreadPoolExecutor(64)
            self.client = module.Client(wanted, url, self.gauge)

    async def _made(self, module, wanted, url):
        return module.Client(wanted, url, self.gauge)

    def _awaited(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def begin(self):
        return self._awaited(self.client.fetch()) if self.of_loop else self._threads.submit(self.client.fetch)

    def fetch(self):
        return outcome(self.begin())

    @property
    def shown(self):
        return self.gauge.in_use, self.gauge.waiting

    def close(self):
        if self.of_loop:
            self._awaited(self.client.aclose()).result(PATIENCE_S)
            self._awaited(asyncio.sleep(0.01)).result(PATIENCE_S)  # closed connections say so to their loop
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(PATIENCE_S)
            self._loop.close()
        else:
            self.client.close()
            self._threads.shutdown()


def outcome(future):
    """What a fetch came to."""
    try:
        return future.result(PATIENCE_S)
    except FetchError as error:
        return error


@pytest.fixture(params=[*clients.OF_THREADS, *clients.OF_LOOPS])
def fetcher(request):
    """A function: a client of an origin at a URL, with settings that differ from the usual ones."""
    with contextlib.ExitStack() as stack:

        def make(url, folder=None, **changes):
            wanted = dataclasses.replace(fetching({}), **changes)
            made = Fetcher(request.param, wanted, f"{url}/", folder)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def served(origin):
    """A function: the views fetch from that URL, with settings that differ from the usual ones; what a process knows of
    its origin is forgotten before and after."""
    with contextlib.ExitStack() as stack:

        def serve(url, **changes):
            wanted = dataclasses.replace(fetching({}), url=url, **changes)
            stack.enter_context(override_settings(FETCHING=wanted, ALLOWED_HOSTS=["testserver"]))

        _forget()
        yield serve
        _forget()


def _forget():
    clients.close()
    resilience.of_process.cache_clear()
    cache.clear()


@pytest.fixture(params=["wsgi", "asgi"])
def ask(request):
    """A function: the answers to paths, one after the other, through one of Django's handlers."""

    async def through_asgi(paths, headers):
        client = AsyncClient(raise_request_exception=False)
        try:
            return [await client.get(path, headers=headers) for path in paths]
        finally:
            await clients.aclose()
            await asyncio.sleep(0.01)

    def through_wsgi(paths, headers):
        client = Client(raise_request_exception=False)
        return [client.get(path, headers=headers) for path in paths]

    def asked(*paths, **headers):
        if request.param == "wsgi":
            return through_wsgi(paths, headers)
        return asyncio.run(through_asgi(paths, headers))

    asked.handler = request.param
    return asked
