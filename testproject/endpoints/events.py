"""Send server-sent events at a steady pace, like the tokens of a language model."""

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

MAX_EVENTS = 10_000
LONGEST_GAP_MS = 10_000
LARGEST = 1024 * 1024  # the maximum bytes of data in an event
NOTE = re.compile(r"[A-Za-z0-9.-]{0,60}")
TOKEN = b"token"
RUNNING = "-"  # the state of a generator that hasn't ended


def event(number: int, data: bytes = TOKEN) -> bytes:
    """Return an event. Its number reveals missing and repeated events."""
    return b"id: %d\ndata: %s\n\n" % (number, data)


def paced(count: int, gap_s: float, data: bytes = TOKEN, note: str = "") -> Iterator[bytes]:
    """Yield events at a steady pace, and sleep in this thread between them.

    Event k is due k times `gap_s` after the request for the first event, so a late event doesn't delay the following
    events.

    Args:
        count: The number of events.
        gap_s: The seconds between two events.
        data: The data of each event.
        note: The name for the record of the generator's end, or an empty string to record nothing.
    """
    with noted(note):
        start = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, start + number * gap_s - time.monotonic()))
            yield event(number, data)


async def paced_async(count: int, gap_s: float, data: bytes = TOKEN, note: str = "") -> AsyncIterator[bytes]:
    """Yield events as `paced` does, without blocking the event loop."""
    with noted(note):
        start = time.monotonic()
        for number in range(count):
            await asyncio.sleep(max(0.0, start + number * gap_s - time.monotonic()))
            yield event(number, data)


@contextlib.contextmanager
def noted(note: str) -> Iterator[None]:
    """Record the start and the end of a generator if RUN_DIR is set (see supervisor/defaults.sh).

    A generator ends after its last event, when the server closes it, or when Python deletes it.
    """
    write(note, RUNNING)
    try:
        yield
    finally:
        write(note, f"{time.monotonic()}")


def write(note: str, state: str) -> None:
    if note and (file := notes()):
        with file.open("a", encoding="ascii") as lines:  # append mode, because all processes write to this file
            lines.write(f"{note} {state}\n")


def notes() -> Path | None:
    """Return the file of the notes, or None without RUN_DIR."""
    directory = os.environ.get("RUN_DIR")
    return Path(directory, "events-ended") if directory else None


def events(request: HttpRequest) -> StreamingHttpResponse:
    """Send 60 events with an interval of 50 ms for `?events=60&every=50`.

    `&size=1000` sets the size of each event's data in bytes. `&note=run.1` records the end of the generator.

    The generator is sync under WSGI and async under ASGI, because Django would collect all events of the other kind of
    generator before it sends them. `&generator=sync` always uses a sync generator.
    """
    count = bounded(request, "events", 60, MAX_EVENTS)
    gap_s = bounded(request, "every", 50, LONGEST_GAP_MS) / 1000
    generator = request.GET.get("generator", "own")
    if generator not in ("own", "sync"):
        raise BadRequest("generator must be own or sync")
    if request.method == "HEAD":
        count = 0  # see endpoints.stream
    size = bounded(request, "size", 0, LARGEST)
    options = (count, gap_s, b"x" * size or TOKEN, note_of(request))
    iterate = paced_async if isinstance(request, ASGIRequest) and generator == "own" else paced
    # X-Accel-Buffering prevents proxies such as nginx from buffering some events.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(iterate(*options), content_type="text/event-stream", headers=headers)


async def events_async(request: HttpRequest) -> StreamingHttpResponse:
    return events(request)


def ended(request: HttpRequest) -> HttpResponse:
    """List the generators whose notes start with `run.`, for `?note=run`.

    Each line contains the rest of the note and the seconds since the end of the generator, or `-` while it runs.
    """
    of = f"{note_of(request)}."
    file = notes()
    lines = file.read_text(encoding="ascii").splitlines() if file and file.exists() else []
    now = time.monotonic()
    # dict() keeps only the last line of each note
    found = dict(line.removeprefix(of).split(" ") for line in lines if line.startswith(of))
    text = "".join(f"{rest} {at if at == RUNNING else f'{now - float(at):.3f}'}\n" for rest, at in found.items())
    return HttpResponse(text, content_type="text/plain")


def note_of(request: HttpRequest) -> str:
    """Return the query parameter `note`.

    Raises:
        BadRequest: If the note contains anything except letters, digits, `-` and dots, or is too long (400).
    """
    note: str = request.GET.get("note", "")
    if not NOTE.fullmatch(note):
        raise BadRequest("note must be at most 60 letters, digits, dots and -")
    return note
