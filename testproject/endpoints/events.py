"""Server-sent events at a steady pace, as the tokens of a language model come."""

import asyncio
import contextlib
import os
import re
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from django.core.exceptions import BadRequest
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from endpoints.parameters import bounded

MOST_EVENTS = 10_000
LONGEST_GAP_MS = 10_000
LARGEST = 1024 * 1024  # bytes of an event's data
NOTE = re.compile(r"[A-Za-z0-9.-]{0,60}")
TOKEN = b"token"
RUNNING = "-"  # a generator that has not ended


def event(number: int, data: bytes = TOKEN) -> bytes:
    """An event; its number shows where one is missing or comes twice."""
    return b"id: %d\ndata: %s\n\n" % (number, data)


def paced(count: int, gap_s: float, data: bytes = TOKEN, note: str = "") -> Iterator[bytes]:
    """`count` events. Event k is due k times `gap_s` after the first one is asked for: one that is late does not delay
    those after it. The thread sleeps in between. Its end is noted."""
    with noted(note):
        start = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, start + number * gap_s - time.monotonic()))
            yield event(number, data)


async def paced_async(count: int, gap_s: float, data: bytes = TOKEN, note: str = "") -> AsyncIterator[bytes]:
    """`paced` for an event loop, which does something else in between."""
    with noted(note):
        start = time.monotonic()
        for number in range(count):
            await asyncio.sleep(max(0.0, start + number * gap_s - time.monotonic()))
            yield event(number, data)


@contextlib.contextmanager
def noted(note: str) -> Iterator[None]:
    """Notes that a generator begins, and when it ends, however it does: all is sent, it is closed, or it is thrown
    away. Only where there is a place for it (RUN_DIR, see supervisor/defaults.sh)."""
    write(note, RUNNING)
    try:
        yield
    finally:
        write(note, f"{time.monotonic()}")


def write(note: str, state: str) -> None:
    """Adds a line to the notes."""
    if note and (file := notes()):
        with file.open("a", encoding="ascii") as lines:  # one at a time: all processes write them
            lines.write(f"{note} {state}\n")


def notes() -> Path | None:
    """The file of the notes."""
    directory = os.environ.get("RUN_DIR")
    return Path(directory, "events-ended") if directory else None


def events(request: HttpRequest) -> StreamingHttpResponse:
    """`?events=60&every=50`: 60 events, one every 50 ms. `&size=1000`: the data of each has a thousand bytes.
    `&note=run.1`: notes when its generator ends.

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
    size = bounded(request, "size", 0, LARGEST)
    options = (count, gap_s, b"x" * size or TOKEN, note_of(request))
    iterate = paced_async if isinstance(request, ASGIRequest) and generator == "own" else paced
    # A proxy such as nginx would collect some of it otherwise.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(iterate(*options), content_type="text/event-stream", headers=headers)


async def events_async(request: HttpRequest) -> StreamingHttpResponse:
    """The same from a coroutine."""
    return events(request)


def ended(request: HttpRequest) -> HttpResponse:
    """`?note=run`: a line for each generator of a note that begins with `run.`: the rest of its note, and how many
    seconds ago it ended, or `-` while it runs."""
    of = f"{note_of(request)}."
    file = notes()
    lines = file.read_text(encoding="ascii").splitlines() if file and file.exists() else []
    now = time.monotonic()
    found = dict(line.removeprefix(of).split(" ") for line in lines if line.startswith(of))  # the last line of each
    text = "".join(f"{rest} {at if at == RUNNING else f'{now - float(at):.3f}'}\n" for rest, at in found.items())
    return HttpResponse(text, content_type="text/plain")


def note_of(request: HttpRequest) -> str:
    """The query parameter `note`: letters, digits, `-` and dots; BadRequest (400) for anything else."""
    note: str = request.GET.get("note", "")
    if not NOTE.fullmatch(note):
        raise BadRequest("note must be at most 60 letters, digits, dots and -")
    return note
