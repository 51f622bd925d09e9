"""Create the HTTP clients of the views: one client of each kind in a process, at the first fetch after the fork.

A client for coroutines belongs to an event loop. The event loop of an ASGI server lasts as long as the process. Behind
WSGI, Django creates an event loop for each call of an async view, and the client and its pool end with the request.
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

# The modules of the clients, by HTTP_CLIENT. The first client of each kind is the default.
OF_THREADS = {"urllib3": "with_urllib3", "requests": "with_requests", "httpx": "with_httpx"}
OF_LOOPS = {"aiohttp": "with_aiohttp", "httpx-async": "with_httpx_async"}


class ThreadClient(Protocol):
    """Fetch from threads or greenlets, which share this client."""

    def fetch(self) -> Fetched:
        """Fetch the origin's answer.

        The wait for a connection of the pool, connecting and reading may each take FETCH_TIMEOUT.

        Raises:
            FetchError: If the fetch fails: Exhausted, NotInTime or Failed.
        """


class LoopClient(Protocol):
    """Fetch from the coroutines of an event loop. A cancelled fetch closes its connection."""

    async def fetch(self) -> Fetched:
        """See ThreadClient."""

    async def aclose(self) -> None:
        """Close all connections."""


_making = threading.Lock()
_of_threads: list[ThreadClient] = []
_of_loops: dict[asyncio.AbstractEventLoop, LoopClient] = {}


def of_threads() -> ThreadClient:
    """Return the client for the threads of this process.

    Raises:
        Misfit: If the configured client can't be used in threads.
        NoOrigin: If no origin is known.
    """
    if not _of_threads:
        with _making:
            if not _of_threads:
                _of_threads.append(_made(OF_THREADS, "synchronous"))
    return _of_threads[0]


@asynccontextmanager
async def of_loop(lasting: bool) -> AsyncIterator[LoopClient]:
    """Return the client of this event loop, or a client for a single fetch if the loop is not ``lasting``.

    Raises:
        Misfit: If the configured client can't be used in coroutines.
        NoOrigin: If no origin is known.
    """
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


def _made(modules: dict[str, str], kind: str):
    wanted = settings.FETCHING
    name = wanted.client or next(iter(modules))
    if name not in modules:
        raise Misfit(f"HTTP_CLIENT={name} does not work in {kind} views. Use {' or '.join(modules)}")
    url = origin.url()
    return importlib.import_module(f"fetching.{modules[name]}").Client(wanted, url, _gauge())


@functools.cache
def _gauge() -> PoolGauge:
    folder = os.environ.get("RUN_DIR")
    return PoolGauge(Path(folder) if folder else None)
