"""Django's ASGI handler, which takes a thread only for what can block."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core import signals
from django.core.cache import close_caches
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler, reset_urlconf
from django.db import close_old_connections, reset_queries
from django.http import Http404
from django.http.response import HttpResponseBase
from django.urls import get_resolver, set_script_prefix

from hopless import middleware, private
from hopless.threads import BorrowedThread, IdleThreads, RequestThread

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# Receivers that look after the connections of a thread: without a thread there is nothing for them to do, or it is
# done at once.
OF_A_THREAD_AT_START = {reset_queries, close_old_connections}
OF_A_THREAD_AT_END = {close_old_connections, close_caches, reset_urlconf}


class Handler(ASGIHandler):  # type: ignore[misc]
    """Serves HTTP as Django's handler does, with fewer changes of thread.

    ``idle_threads`` are kept between requests. With ``substitute`` each of Django's middleware that is known
    (``hopless.middleware``) runs in the event loop where it cannot block. With ``whole`` a synchronous view runs
    with all of its middleware in one thread, as under WSGI; each middleware is then built twice.
    """

    def __init__(self, idle_threads: int = 20, whole: bool = False, substitute: bool = True) -> None:
        self._idle = IdleThreads(idle_threads)
        self._substitute = substitute
        super().__init__()
        self._synchronous: BaseHandler | None = None
        if whole:
            self._synchronous = BaseHandler()
            self._synchronous.load_middleware()

    def load_middleware(self, is_async: bool = False) -> None:
        """Loads settings.MIDDLEWARE, with ours in place of those of Django's that are known."""
        named = settings.MIDDLEWARE
        if self._substitute:
            settings.MIDDLEWARE = middleware.substituted(named)
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = named

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection of ASGI's HTTP protocol (ASGI specification, HTTP & WebSocket, version 2)."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)  # which refuses it
            return
        async with RequestThread(self._idle) as context:
            try:
                body = await self.read_body(receive)
            except RequestAborted:
                return
            with contextlib.closing(body):
                await self._serve(scope, body, receive, send, context.thread)

    async def _serve(self, scope: Scope, body: Any, receive: Receive, send: Send, thread: BorrowedThread) -> None:
        set_script_prefix(get_script_prefix(scope))
        await self._start(scope, thread)
        request, refusal = self.create_request(scope, body)
        if request is None:
            await self.send_response(refusal, send)
            await self._close(refusal, thread)
            return
        response = await self._answer_unless_gone(request, receive, send)
        if response is not None:
            await self._close(response, thread)
        elif self._needs_a_thread(signals.request_finished, OF_A_THREAD_AT_END) or thread.used:
            await signals.request_finished.asend(sender=type(self))
        else:
            signals.request_finished.send(sender=type(self))

    async def _start(self, scope: Scope, thread: BorrowedThread) -> None:
        """Sends request_started; where only the database listens, in the thread of the request, should it get one."""
        if self._needs_a_thread(signals.request_started, OF_A_THREAD_AT_START):
            await signals.request_started.asend(sender=type(self), scope=scope)
        else:
            thread.first = functools.partial(signals.request_started.send, sender=type(self), scope=scope)

    def _needs_a_thread(self, signal: Any, of_a_thread: set[Any]) -> bool:
        synchronous, asynchronous = private.receivers(signal, type(self))
        return bool(asynchronous) or not of_a_thread.issuperset(synchronous)

    async def _close(self, response: HttpResponseBase, thread: BorrowedThread) -> None:
        """Closes a response, which sends request_finished: in the thread of the request, if it has one."""
        blocks = thread.used or response.streaming or not private.closes_nothing(response)
        if blocks or self._needs_a_thread(signals.request_finished, OF_A_THREAD_AT_END):
            await sync_to_async(response.close)()
        else:
            response.close()

    async def _answer_unless_gone(self, request: ASGIRequest, receive: Receive, send: Send) -> HttpResponseBase | None:
        """The response that was sent; None where the client went before there was one. The view is then cancelled."""
        answering = asyncio.create_task(self._answer(request, send))
        listening = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait((answering, listening), return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                with contextlib.suppress(RequestAborted):
                    listening.result()
        finally:
            for task in (answering, listening):
                task.cancel()  # does nothing to one that is done
            with contextlib.suppress(asyncio.CancelledError, RequestAborted):
                await listening
        try:
            return await answering
        except asyncio.CancelledError:
            return None

    async def _answer(self, request: ASGIRequest, send: Send) -> HttpResponseBase:
        response = await self.run_get_response(request)
        with contextlib.suppress(asyncio.CancelledError):  # the client went while it was sent
            await self.send_response(response, send)
        return response

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:
        """The response to a request: of the synchronous chain where ``whole`` was asked for and the view is so."""
        if self._synchronous is not None and _is_synchronous(request):
            response: HttpResponseBase = await sync_to_async(self._synchronous.get_response)(request)
            return response
        response = await super().get_response_async(request)
        return response


def _is_synchronous(request: ASGIRequest) -> bool:
    """Whether a request goes to a synchronous view. Either chain serves any view: only the cost depends on this."""
    try:
        return not iscoroutinefunction(get_resolver().resolve(request.path_info).func)
    except Http404:
        return True
    except Exception:  # of a URL converter: the other chain raises it in its place
        return False
