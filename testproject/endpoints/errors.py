"""Views that fail."""

from django.http import HttpRequest, HttpResponse


def error(request: HttpRequest) -> HttpResponse:
    """Raises; Django answers 500 and logs the traceback."""
    raise RuntimeError("raised by the endpoint /error/, as asked")


async def error_async(request: HttpRequest) -> HttpResponse:
    """The same from a coroutine."""
    raise RuntimeError("raised by the endpoint /error/async/, as asked")
