"""Middleware that does nothing, sync or async: what it costs is the way through it (settings/middleware.py)."""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware, sync_only_middleware


@sync_only_middleware
def sync_nothing(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Passes a request on, as middleware of old does."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    return middleware


@async_only_middleware
def async_nothing(
    get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]],
) -> Callable[[HttpRequest], Awaitable[HttpResponseBase]]:
    """Passes a request on from a coroutine."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        return await get_response(request)

    return middleware
