"""Serve Django over ASGI without unnecessary changes of thread."""

from __future__ import annotations

from typing import Any

__all__ = ["counters", "get_asgi_application"]
__version__ = "0.2.0"


def get_asgi_application(
    *,
    idle_threads: int = 20,
    max_threads: int | None = None,
    max_requests: int = 10_000,
    whole: bool = False,
    substitute: bool = True,
) -> Any:
    """Return the project's ASGI application. Use this function instead of Django's ``get_asgi_application``.

    If this version of Django or asgiref lacks a name that hopless needs, the application is Django's own application,
    and the logger ``hopless`` logs a warning.

    Args:
        idle_threads: The maximum number of threads that are kept between requests, with their database connections.
            With 0, each request starts its own thread.
        max_threads: The maximum number of requests that run synchronous code at the same time. Further requests wait in
            order. With None, there is no limit, as in Django.
        max_requests: The number of requests after which a thread is replaced. With 0, threads are never replaced.
        whole: Whether a synchronous view and all of its middleware run in one thread.
        substitute: Whether Django's own middleware runs in the event loop when it can't block.

    Returns:
        The return value of Django's function. Monitoring agents may have wrapped the application.
    """
    from django.core import asgi

    djangos = getattr(asgi, "ASGIHandler", None)

    def handler() -> Any:
        from hopless import private

        if not private.usable():
            return djangos() if djangos is not None else None
        from hopless.checks import log_missing_health_checks
        from hopless.handler import Handler
        from hopless.threads import Threads

        log_missing_health_checks()
        return Handler(Threads(idle_threads, max_requests, max_threads), whole, substitute)

    if djangos is None:
        handler()
        return asgi.get_asgi_application()
    asgi.ASGIHandler = handler
    try:
        return asgi.get_asgi_application()
    finally:
        asgi.ASGIHandler = djangos


def counters() -> dict[str, int]:
    """Return counters of this process's applications, for a health page or a metrics exporter.

    Returns:
        ``threads_busy`` (threads that requests use now), ``threads_idle`` (threads that are kept), ``threads_started``
        (since the process started), ``connections_open`` (database connections that threads held after their last
        work), and ``requests_waiting`` (requests that wait because of ``max_threads``).
    """
    from hopless.threads import Threads

    found = {"threads_busy": 0, "threads_idle": 0, "threads_started": 0, "connections_open": 0, "requests_waiting": 0}
    for threads in list(Threads.every):
        busy, idle = list(threads.busy), list(threads.idle)
        found["threads_busy"] += len(busy)
        found["threads_idle"] += len(idle)
        found["threads_started"] += threads.started
        found["connections_open"] += sum(worker.open_connections for worker in (*busy, *idle))
        found["requests_waiting"] += threads.limit.waiting if threads.limit is not None else 0
    return found
