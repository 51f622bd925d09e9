"""Pass requests through middleware that does nothing, to measure the cost of a call (settings/middleware.py)."""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware, sync_only_middleware


@sync_only_middleware
def sync_nothing(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Pass on a request in synchronous code."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    return middleware


@async_only_middleware
def async_nothing(
    get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]],
) -> Callable[[HttpRequest], Awaitable[HttpResponseBase]]:
    """Pass on a request in a coroutine."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        return await get_response(request)

    return middleware
