"""Django under ASGI, without the hops from thread to thread that it does not need."""

from __future__ import annotations

from typing import Any

__all__ = ["get_asgi_application"]
__version__ = "0.1.0"


def get_asgi_application(idle_threads: int = 20, whole: bool = False, substitute: bool = True) -> Any:
    """An ASGI application for the project of DJANGO_SETTINGS_MODULE, in place of ``django.core.asgi``'s.

    ``idle_threads`` is how many threads are kept between requests, with their database connections; more are started
    where more requests run synchronous code at once. ``substitute`` runs Django's own middleware in the event loop
    where it cannot block. ``whole`` runs a synchronous view and all of its middleware in one thread.

    With a version of Django or asgiref that lacks something this needs, it is Django's own application, and the logger
    ``hopless`` says so once.
    """
    from django.core.asgi import get_asgi_application as djangos

    application = djangos()
    from hopless import private

    if not private.usable():
        return application
    from hopless.handler import Handler

    return Handler(idle_threads, whole, substitute)
