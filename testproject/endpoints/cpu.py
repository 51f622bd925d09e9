"""Use CPU time in Python code, which holds the interpreter's lock."""

import time

from django.http import HttpRequest, HttpResponse

from endpoints.parameters import bounded

MAX_MS = 10_000
STEP = range(200)  # summing this range takes a few microseconds between two readings of the clock


def cpu(request: HttpRequest) -> HttpResponse:
    """Use 10 ms of CPU time in this thread for `?ms=10`. On a busy machine, this takes longer than 10 ms."""
    work(bounded(request, "ms", default=10, most=MAX_MS) / 1000)
    return HttpResponse("OK")


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(STEP)
