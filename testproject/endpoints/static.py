"""Serve the files of `endpoints/static/` with WhiteNoise's headers and conditional requests.

WhiteNoise's documentation recommends its middleware. But under ASGI, a sync middleware changes how Django runs all the
middleware before it, for each endpoint (docs/endpoints.rst). A view doesn't affect the other endpoints.
"""

from collections.abc import AsyncIterator
from pathlib import Path

from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest
from whitenoise import WhiteNoise
from whitenoise.middleware import WhiteNoiseFileResponse, WhiteNoiseMiddleware

FILES = WhiteNoise(None, root=Path(__file__).parent / "static", prefix="static").files


def static(request: HttpRequest, path: str) -> WhiteNoiseFileResponse:
    if request.path_info not in FILES:
        raise Http404
    response = WhiteNoiseMiddleware.serve(FILES[request.path_info], request)
    if isinstance(request, ASGIRequest):
        # An ASGI server would need a thread to iterate over a file. This view runs in a thread, so it reads the file.
        response.streaming_content = at_once(b"".join(response.streaming_content))
    return response


async def at_once(content: bytes) -> AsyncIterator[bytes]:
    yield content
