"""Files of `endpoints/static/`, by WhiteNoise: its headers, its conditional requests.

As a view, and not as the middleware that WhiteNoise's documentation recommends: a sync middleware changes how Django
runs all those before it under ASGI, for every endpoint (docs/endpoints.rst), and the others are to stay as they were.
"""

from collections.abc import AsyncIterator
from pathlib import Path

from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest
from whitenoise import WhiteNoise
from whitenoise.middleware import WhiteNoiseFileResponse, WhiteNoiseMiddleware

FILES = WhiteNoise(None, root=Path(__file__).parent / "static", prefix="static").files


def static(request: HttpRequest, path: str) -> WhiteNoiseFileResponse:
    """The file."""
    if request.path_info not in FILES:
        raise Http404
    response = WhiteNoiseMiddleware.serve(FILES[request.path_info], request)
    if isinstance(request, ASGIRequest):
        # An ASGI server cannot iterate over a file. It is read here, where this view has a thread to do it in.
        response.streaming_content = at_once(b"".join(response.streaming_content))
    return response


async def at_once(content: bytes) -> AsyncIterator[bytes]:
    """All of it in one piece."""
    yield content
