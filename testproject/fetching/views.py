"""Fetch from the origin in sync and async views. The ``resilient`` views add the usual protections of production."""

import time

from django.core.cache import cache
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from fetching import clients, resilience
from fetching.resilience import Delivered
from fetching.results import FetchError


@require_safe
def fetch(request: HttpRequest) -> HttpResponse:
    """Return the origin's answer, or 504, 503 or 502 if there is no answer (see fetching.results)."""
    begun = time.perf_counter()
    try:
        return answer(Delivered(clients.of_threads().fetch()), begun)
    except FetchError as error:
        return answer(Delivered(error), begun)


@require_safe
async def fetch_async(request: HttpRequest) -> HttpResponse:
    """Fetch in a coroutine.

    If the client disconnects, Django cancels the coroutine and the fetch. A thread would continue to fetch.
    """
    begun = time.perf_counter()
    try:
        async with clients.of_loop(isinstance(request, ASGIRequest)) as client:
            return answer(Delivered(await client.fetch()), begun)
    except FetchError as error:
        return answer(Delivered(error), begun)


@require_safe
def resilient(request: HttpRequest) -> HttpResponse:
    """Fetch with retries, a circuit breaker and a stale copy (see fetching.resilience)."""
    begun = time.perf_counter()
    try:
        client = clients.of_threads()
    except FetchError as error:  # retries need an origin and a client
        return answer(Delivered(error), begun)
    return answer(resilience.run(resilience.of_process().course(), client, cache), begun)


@require_safe
async def resilient_async(request: HttpRequest) -> HttpResponse:
    """Fetch with the same protections in a coroutine.

    Django's caches are synchronous, so each access needs a thread.
    """
    begun = time.perf_counter()
    try:
        async with clients.of_loop(isinstance(request, ASGIRequest)) as client:
            return answer(await resilience.arun(resilience.of_process().course(), client, cache), begun)
    except FetchError as error:
        return answer(Delivered(error), begun)


def answer(delivered: Delivered, begun: float) -> HttpResponse:
    """Return the response. ``begun`` is the time when the view started, from time.perf_counter()."""
    outcome = delivered.outcome
    if isinstance(outcome, FetchError):
        response = HttpResponse(f"{outcome}\n", status=outcome.status, content_type="text/plain")
        response["X-Fetch-Failed"] = outcome.kind
    else:
        kind = outcome.content_type or "application/octet-stream"
        response = HttpResponse(outcome.body, status=outcome.status, content_type=kind)
    if delivered.stale:
        response["X-Stale"] = "1"
    response["X-Fetch-Ms"] = f"{(time.perf_counter() - begun) * 1000:.1f}"
    # Prevent Django from logging each answer of 500 and above, a thousand lines a second while the origin fails.
    response._has_been_logged = True
    return response
