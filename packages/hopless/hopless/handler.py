"""Django's ASGI handler, which takes a thread only for what can block."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any, BinaryIO

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.db import close_old_connections, reset_queries
from django.dispatch import Signal
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from hopless import middleware, private
from hopless.client import UntilClientGoes
from hopless.threads import IdleThreads, RequestThread

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# Receivers that look after the connections of a thread: without a thread there is nothing for them to do, or it is
# done at once.
OF_A_THREAD_AT_START = {reset_queries, close_old_connections}
OF_A_THREAD_AT_END = {close_old_connections, private.close_caches, private.reset_urlconf}


class Receivers:
    """Who listens to one of the signals of a request, where ``of_a_thread`` do with Django alone."""

    def __init__(self, signal: Signal, sender: type, of_a_thread: set[Any]) -> None:
        self._signal = signal
        self._sender = sender
        self._of_a_thread = of_a_thread
        self._connected: list[Any] | None = None
        self._others = True

    def need_a_thread(self) -> bool:
        """Whether there are others, or asynchronous ones."""
        if self._connected != self._signal.receivers:
            self._connected = list(self._signal.receivers)
            synchronous, asynchronous = private.receivers(self._signal, self._sender)
            self._others = bool(asynchronous) or not self._of_a_thread.issuperset(synchronous)
        return self._others


class Handler(private.ASGIHandler):  # type: ignore[misc]
    """Serves HTTP as Django's handler does, with fewer changes of thread.

    ``idle_threads`` are kept between requests. With ``substitute`` each of Django's middleware that is known
    (``hopless.middleware``) runs in the event loop where it cannot block. With ``whole`` a synchronous view runs
    with all of its middleware in one thread, as under WSGI; each middleware is then built twice.
    """

    def __init__(self, idle_threads: int = 20, whole: bool = False, substitute: bool = True) -> None:
        self._idle = IdleThreads(idle_threads)
        self._substitute = substitute
        self._started = Receivers(signals.request_started, type(self), OF_A_THREAD_AT_START)
        self._finished = Receivers(signals.request_finished, type(self), OF_A_THREAD_AT_END)
        super().__init__()
        self._synchronous: Any = None
        if whole:
            self._synchronous = private.BaseHandler()
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
        if asyncio.current_task() is None:  # a server with tasks of its own kind: they cannot be cancelled
            await asyncio.create_task(self._serve(scope, receive, send))
        else:
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        with RequestThread(self._idle) as thread:
            try:
                body = await self.read_body(receive)
            except RequestAborted:
                return
            with contextlib.closing(body):
                private.set_script_prefix(private.get_script_prefix(scope))
                await self._start(scope, thread)
                request, response = self.create_request(scope, body)
                if request is None:
                    await self.send_response(response, send)
                else:
                    response = await self._answer(request, receive, send)
                await self._finish(response, thread)

    async def read_body(self, receive: Receive) -> BinaryIO:
        """The body of a request: an empty one needs no temporary file."""
        first = await receive()
        if first["type"] == "http.request" and not first.get("body") and not first.get("more_body"):
            return BytesIO()
        ahead = [first]

        async def receive_again() -> dict[str, Any]:
            return ahead.pop() if ahead else await receive()

        file: BinaryIO = await super().read_body(receive_again)
        return file

    async def _start(self, scope: Scope, thread: RequestThread) -> None:
        """Sends request_started; where only the database listens, in the thread of the request, should it get one."""
        if self._started.need_a_thread():
            await signals.request_started.asend(sender=type(self), scope=scope)
        else:
            thread.first = functools.partial(signals.request_started.send, sender=type(self), scope=scope)

    async def _answer(self, request: HttpRequest, receive: Receive, send: Send) -> HttpResponseBase | None:
        """The response to a request; None where the client went before there was one."""
        response = None
        with UntilClientGoes(functools.partial(self.listen_for_disconnect, receive)):
            response = await self.run_get_response(request)
            await self.send_response(response, send)
        return response

    async def _finish(self, response: HttpResponseBase | None, thread: RequestThread) -> None:
        """Closes a response, which sends request_finished: in a thread where that can block.

        It is not sent where nobody but Django listens, for connections and caches, and this request has made none.
        """
        if response is None:
            finish = functools.partial(signals.request_finished.send, sender=type(self))
            blocks = False
        else:
            finish = response.close
            blocks = response.streaming or not private.closes_nothing(response)
        if blocks or thread.holds_connections or self._finished.need_a_thread():
            await sync_to_async(finish)()
        elif response is not None and private.nothing_is_initialised():
            private.close_unsent(response)
            private.reset_urlconf(type(self))  # the third that Django has listening
        else:
            finish()

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The response to a request: of the synchronous chain where ``whole`` was asked for and the view is so."""
        if self._synchronous is not None and _is_synchronous(request):
            response: HttpResponseBase = await sync_to_async(self._synchronous.get_response)(request)
            return response
        response = await super().get_response_async(request)
        return response


def _is_synchronous(request: HttpRequest) -> bool:
    """Whether a request goes to a synchronous view. Either chain serves any view: only the cost depends on this."""
    try:
        return not iscoroutinefunction(private.get_resolver().resolve(request.path_info).func)
    except Http404:
        return True
    except Exception:  # of a URL converter: the other chain raises it in its place
        return False
