"""Views that fail, and what is said of a request that makes no sense."""

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


def error(request: HttpRequest) -> HttpResponse:
    """Raises; Django answers 500 and logs the traceback."""
    raise RuntimeError("raised by the endpoint /error/, as asked")


async def error_async(request: HttpRequest) -> HttpResponse:
    """The same from a coroutine."""
    raise RuntimeError("raised by the endpoint /error/async/, as asked")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The handler of 400: what is wrong, in a line. Django's own does not say."""
    return HttpResponseBadRequest(f"{exception}\n", content_type="text/plain")
