"""Serve a path with a sync view through WSGI and an async view through ASGI."""

import asyncio
from collections.abc import Callable
from typing import Any

from django.urls import ResolverMatch
from django.urls.resolvers import RoutePattern, URLPattern

View = Callable[..., Any]


class EitherPattern(URLPattern):
    """Choose the view when the path is resolved.

    Django's ASGI handler resolves paths in its event loop, and its WSGI handler in a thread without an event loop.
    """

    def __init__(self, route: str, view: View, view_async: View) -> None:
        super().__init__(RoutePattern(route, is_endpoint=True), view)
        self.view_async = view_async

    def resolve(self, path: str) -> ResolverMatch | None:
        match = super().resolve(path)
        if match is not None and _in_event_loop():
            match.func = self.view_async
        return match


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
