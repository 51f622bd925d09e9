"""The HTTP clients of the views: one of each kind a process, made at the first fetch, after a fork.

A client for coroutines belongs to an event loop. An ASGI server's lasts as long as the process; the one that Django
makes for an asynchronous view behind WSGI ends with the request, and its pool with it.
"""

import asyncio
import functools
import importlib
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from django.conf import settings

from fetching import origin
from fetching.gauges import PoolGauge
from fetching.results import Fetched, Misfit

# By HTTP_CLIENT, the module; the first of each kind is the default.
OF_THREADS = {"urllib3": "with_urllib3", "requests": "with_requests", "httpx": "with_httpx"}
OF_LOOPS = {"aiohttp": "with_aiohttp", "httpx-async": "with_httpx_async"}


class ThreadClient(Protocol):
    """A client for threads and greenlets, which share it."""

    def fetch(self) -> Fetched:
        """Raises FetchError: Exhausted, NotInTime or Failed. The wait for a connection of the pool, to connect and to
        read have FETCH_TIMEOUT each."""

    def close(self) -> None:
        """Closes its connections."""


class LoopClient(Protocol):
    """A client for the coroutines of one event loop. A fetch that is cancelled closes its connection."""

    async def fetch(self) -> Fetched:
        """See ThreadClient."""

    async def aclose(self) -> None:
        """Closes its connections."""


_making = threading.Lock()
_of_threads: list[ThreadClient] = []
_of_loops: dict[asyncio.AbstractEventLoop, LoopClient] = {}


def of_threads() -> ThreadClient:
    """This process's client. Raises Misfit and NoOrigin."""
    if not _of_threads:
        with _making:
            if not _of_threads:
                _of_threads.append(_made(OF_THREADS, "synchronous"))
    return _of_threads[0]


@asynccontextmanager
async def of_loop(lasting: bool) -> AsyncIterator[LoopClient]:
    """This event loop's client, or one for this fetch alone in a loop that is not ``lasting``. Raises Misfit and
    NoOrigin."""
    if not lasting:
        client = _made(OF_LOOPS, "asynchronous")
        try:
            yield client
        finally:
            await client.aclose()
        return
    loop = asyncio.get_running_loop()
    if loop not in _of_loops:
        _of_loops[loop] = _made(OF_LOOPS, "asynchronous")
    yield _of_loops[loop]


def close() -> None:
    """Closes the client of the threads; the next fetch makes another."""
    with _making:
        while _of_threads:
            _of_threads.pop().close()


async def aclose() -> None:
    """Closes the client of this event loop."""
    if (client := _of_loops.pop(asyncio.get_running_loop(), None)) is not None:
        await client.aclose()


def _made(modules: dict[str, str], kind: str):
    wanted = settings.FETCHING
    name = wanted.client or next(iter(modules))
    if name not in modules:
        raise Misfit(f"HTTP_CLIENT={name} does not fit a view that is {kind}, which takes {', '.join(modules)}")
    url = origin.url()
    return importlib.import_module(f"fetching.{modules[name]}").Client(wanted, url, _gauge())


@functools.cache
def _gauge() -> PoolGauge:
    folder = os.environ.get("RUN_DIR")
    return PoolGauge(Path(folder) if folder else None)
