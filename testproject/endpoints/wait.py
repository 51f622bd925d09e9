"""A slow backend: the view waits for something else, and uses no CPU meanwhile."""

import asyncio
import time

from django.http import HttpRequest, HttpResponse

from endpoints.parameters import bounded

LONGEST_MS = 10_000


def wait(request: HttpRequest) -> HttpResponse:
    """`?ms=50`: the thread sleeps, as it does in `requests.get()`."""
    time.sleep(milliseconds(request) / 1000)
    return HttpResponse("OK")


async def wait_async(request: HttpRequest) -> HttpResponse:
    """The same from a coroutine: the event loop does something else, as it does in `await client.get()`."""
    await asyncio.sleep(milliseconds(request) / 1000)
    return HttpResponse("OK")


def milliseconds(request: HttpRequest) -> int:
    """How long; BadRequest where it makes no sense."""
    return bounded(request, "ms", default=50, most=LONGEST_MS)
