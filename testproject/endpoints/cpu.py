"""Use CPU time in Python, with the interpreter's lock."""

import time

from django.http import HttpRequest, HttpResponse

from endpoints.parameters import bounded

MAX_MS = 10_000
STEP = range(200)  # the sum takes some microseconds between two readings of the clock


def cpu(request: HttpRequest) -> HttpResponse:
    """Use CPU time in this thread: `?ms=10` for 10 ms. On a busy machine it takes longer."""
    work(bounded(request, "ms", default=10, most=MAX_MS) / 1000)
    return HttpResponse("OK")


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(STEP)
