"""An answer in chunks, whose length the server does not know beforehand."""

from collections.abc import AsyncIterator, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from endpoints.parameters import bounded

MOST_CHUNKS = 10_000
LARGEST_CHUNK = 4 * 1024 * 1024  # bytes


def chunks(count: int, size: int) -> Iterator[bytes]:
    """`count` chunks of `size` bytes; each is one repeated digit, so that a change of order shows."""
    for number in range(count):
        yield b"%d" % (number % 10) * size


async def chunks_async(count: int, size: int) -> AsyncIterator[bytes]:
    """`chunks` for an event loop."""
    for chunk in chunks(count, size):
        yield chunk


def stream(request: HttpRequest) -> StreamingHttpResponse:
    """`?chunks=10&size=1024`.

    Django streams an iterator of the interface's own kind; of the other kind it collects all before it sends
    any. So each interface gets its own.
    """
    count = bounded(request, "chunks", 10, MOST_CHUNKS)
    if request.method == "HEAD":
        count = 0  # Daphne 4.2 sends all chunks but the first of an answer to HEAD, which has no body
    size = bounded(request, "size", 1024, LARGEST_CHUNK)
    iterate = chunks_async if isinstance(request, ASGIRequest) else chunks
    return StreamingHttpResponse(iterate(count, size), content_type="text/plain")
