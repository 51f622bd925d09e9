"""Server-sent events at a steady pace, as the tokens of a language model come."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

from django.core.exceptions import BadRequest
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from endpoints.parameters import bounded

MOST_EVENTS = 10_000
LONGEST_GAP_MS = 10_000


def event(number: int) -> bytes:
    """An event; its number shows where one is missing or comes twice."""
    return b"id: %d\ndata: token\n\n" % number


def paced(count: int, gap_s: float) -> Iterator[bytes]:
    """`count` events. Event k is due k times `gap_s` after the first one is asked for: one that is late does not delay
    those after it. The thread sleeps in between."""
    start = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, start + number * gap_s - time.monotonic()))
        yield event(number)


async def paced_async(count: int, gap_s: float) -> AsyncIterator[bytes]:
    """`paced` for an event loop, which does something else in between."""
    start = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, start + number * gap_s - time.monotonic()))
        yield event(number)


def events(request: HttpRequest) -> StreamingHttpResponse:
    """`?events=60&every=50`: 60 events, one every 50 ms.

    Each interface gets a generator of its own kind, for of the other kind Django collects all before it sends any.
    `&generator=sync` is a sync generator whatever the interface.
    """
    count = bounded(request, "events", 60, MOST_EVENTS)
    gap_s = bounded(request, "every", 50, LONGEST_GAP_MS) / 1000
    generator = request.GET.get("generator", "own")
    if generator not in ("own", "sync"):
        raise BadRequest("generator must be own or sync")
    if request.method == "HEAD":
        count = 0  # as in endpoints.stream
    iterate = paced_async if isinstance(request, ASGIRequest) and generator == "own" else paced
    # A proxy such as nginx would collect some of it otherwise.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(iterate(count, gap_s), content_type="text/event-stream", headers=headers)


async def events_async(request: HttpRequest) -> StreamingHttpResponse:
    """The same from a coroutine."""
    return events(request)
