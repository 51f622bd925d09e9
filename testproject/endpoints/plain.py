"""Do as little as possible in a view, to measure the cost of the server and Django."""

from django.http import HttpRequest, HttpResponse


def ok(request: HttpRequest) -> HttpResponse:
    """Return `OK`, as the endpoint of the load test of 2016 did."""
    return HttpResponse("OK")


async def ok_async(request: HttpRequest) -> HttpResponse:
    return HttpResponse("OK")


def healthz(request: HttpRequest) -> HttpResponse:
    """Answer as soon as requests can reach a view, directly or through workers behind a channel layer."""
    return HttpResponse("OK")
