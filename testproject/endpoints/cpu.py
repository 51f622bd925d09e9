"""Work: the view computes in Python, and holds the interpreter's lock as Python code does."""

import time

from django.http import HttpRequest, HttpResponse

from endpoints.parameters import bounded

MOST_MS = 10_000
STEP = range(200)  # summing it takes some microseconds: the clock is read that often


def cpu(request: HttpRequest) -> HttpResponse:
    """`?ms=10`: milliseconds of CPU time of the thread, however long that takes on a busy machine."""
    work(bounded(request, "ms", default=10, most=MOST_MS) / 1000)
    return HttpResponse("OK")


def work(seconds: float) -> None:
    """Uses that much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(STEP)
