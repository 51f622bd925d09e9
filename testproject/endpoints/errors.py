"""Views that fail, and the handler of bad requests."""

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


def error(request: HttpRequest) -> HttpResponse:
    """Raise an error. Django answers 500 and logs the traceback."""
    raise RuntimeError("raised by the endpoint /error/, as asked")


async def error_async(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("raised by the endpoint /error/async/, as asked")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the reason of a 400 as text. The page from Django's handler doesn't contain the reason."""
    return HttpResponseBadRequest(f"{exception}\n", content_type="text/plain")
