"""Raise errors on purpose, and explain bad requests."""

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest


def error(request: HttpRequest) -> HttpResponse:
    """Raise an error. Django answers 500 and logs the traceback."""
    raise RuntimeError("raised on purpose by the endpoint /error/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the reason for a 400 as text. The page of Django's own handler doesn't contain the reason."""
    return HttpResponseBadRequest(f"{exception}\n", content_type="text/plain")
