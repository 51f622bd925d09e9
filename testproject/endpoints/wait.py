"""Wait for a slow backend, without using CPU time."""

import asyncio
import time

from django.http import HttpRequest, HttpResponse

from endpoints.parameters import bounded

LONGEST_MS = 10_000


def wait(request: HttpRequest) -> HttpResponse:
    """Sleep in this thread for `?ms=50` (50 ms), as a thread does in `requests.get()`."""
    time.sleep(milliseconds(request) / 1000)
    return HttpResponse("OK")


async def wait_async(request: HttpRequest) -> HttpResponse:
    """Sleep in a coroutine. The event loop can run other code, as during `await client.get()`."""
    await asyncio.sleep(milliseconds(request) / 1000)
    return HttpResponse("OK")


def milliseconds(request: HttpRequest) -> int:
    """Return the milliseconds to wait.

    Raises:
        BadRequest: If the parameter is invalid.
    """
    return bounded(request, "ms", default=50, most=LONGEST_MS)
