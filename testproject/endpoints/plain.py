"""The least that a view can do: what is left is the server, and Django."""

from django.http import HttpRequest, HttpResponse


def ok(request: HttpRequest) -> HttpResponse:
    """`OK`, the endpoint of the load test of 2016."""
    return HttpResponse("OK")


async def ok_async(request: HttpRequest) -> HttpResponse:
    """The same answer from a coroutine."""
    return HttpResponse("OK")


def healthz(request: HttpRequest) -> HttpResponse:
    """Answers once the whole path to a view works, workers behind a channel layer included."""
    return HttpResponse("OK")
