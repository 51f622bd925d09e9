"""Send an answer in chunks, without a known length."""

from collections.abc import AsyncIterator, Iterator

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from endpoints.parameters import bounded

MAX_CHUNKS = 10_000
LARGEST_CHUNK = 4 * 1024 * 1024  # bytes


def chunks(count: int, size: int) -> Iterator[bytes]:
    """Yield chunks of `size` bytes. Each chunk repeats one digit, so that a test can check the order."""
    for number in range(count):
        yield b"%d" % (number % 10) * size


async def chunks_async(count: int, size: int) -> AsyncIterator[bytes]:
    for chunk in chunks(count, size):
        yield chunk


def stream(request: HttpRequest) -> StreamingHttpResponse:
    """Send 10 chunks of 1,024 bytes for `?chunks=10&size=1024`.

    The iterator is sync under WSGI and async under ASGI, because Django would collect all chunks of the other kind of
    iterator before it sends them.
    """
    count = bounded(request, "chunks", 10, MAX_CHUNKS)
    if request.method == "HEAD":
        count = 0  # an answer to HEAD has no body, but Daphne 4.2 sends all chunks except the first
    size = bounded(request, "size", 1024, LARGEST_CHUNK)
    iterate = chunks_async if isinstance(request, ASGIRequest) else chunks
    return StreamingHttpResponse(iterate(count, size), content_type="text/plain")
