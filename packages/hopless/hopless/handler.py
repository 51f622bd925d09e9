"""Serve requests like Django's ASGI handler, but use a thread only for code that can block."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any, BinaryIO

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.db import close_old_connections, reset_queries
from django.dispatch import Signal
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from hopless import middleware, private
from hopless.client import UntilClientGoes
from hopless.context import isolated
from hopless.threads import RequestThread, Threads

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# Django's receivers that clean up the state of a thread. If a request uses no thread, these receivers have
# nothing to do or don't block.
OF_A_THREAD_AT_START = {reset_queries, close_old_connections}
OF_A_THREAD_AT_END = {close_old_connections, private.close_caches, private.reset_urlconf}


class Receivers:
    """Find out whether a signal has receivers other than Django's.

    Args:
        signal: The signal at the start or at the end of a request.
        sender: The class that sends the signal.
        of_a_thread: Django's receivers of this signal, which need no thread if the request doesn't use a thread.
    """

    def __init__(self, signal: Signal, sender: type, of_a_thread: set[Any]) -> None:
        self._signal = signal
        self._sender = sender
        self._of_a_thread = of_a_thread
        self._connected: list[Any] | None = None
        self._others = True

    def need_a_thread(self) -> bool:
        """Return whether the signal has receivers other than Django's, or asynchronous receivers."""
        if self._connected != self._signal.receivers:
            self._connected = list(self._signal.receivers)
            synchronous, asynchronous = private.receivers(self._signal, self._sender)
            self._others = bool(asynchronous) or not self._of_a_thread.issuperset(synchronous)
        return self._others


class Handler(private.ASGIHandler):  # type: ignore[misc]
    """Serve HTTP as Django's handler does, with fewer changes of thread.

    Monitoring agents replace ``ASGIHandler.__call__`` and other methods, so this class calls all of Django's methods.

    Args:
        threads: The threads for synchronous code.
        whole: Whether a synchronous view runs with all of its middleware in one thread, as under WSGI. Each middleware
            is then created twice.
        substitute: Whether Django's own middleware runs in the event loop when it can't block.
    """

    _view_middleware: list[Any]

    def __init__(self, threads: Threads, whole: bool = False, substitute: bool = True) -> None:
        # Send signals as ASGIHandler, so that receivers that a project connects with sender=ASGIHandler are called.
        self._sender = private.ASGIHandler if type(self) is Handler else type(self)
        self._threads = threads
        self._substitute = substitute
        self._started = Receivers(signals.request_started, self._sender, OF_A_THREAD_AT_START)
        self._finished = Receivers(signals.request_finished, self._sender, OF_A_THREAD_AT_END)
        super().__init__()
        self._synchronous: Any = None
        if whole:
            self._synchronous = private.BaseHandler()
            self._synchronous.load_middleware()

    def load_middleware(self, is_async: bool = False) -> None:
        """Load settings.MIDDLEWARE with the classes of hopless.middleware instead of Django's."""
        if not self._substitute:
            super().load_middleware(is_async)
            return
        with middleware.instead_of_djangos():
            super().load_middleware(is_async)
        self._view_middleware = [middleware.ask_predicate(hook) for hook in self._view_middleware]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request in a thread-sensitive context that keeps its thread, unless the caller set a context."""
        if private.caller_has_a_thread():
            await super().__call__(scope, receive, send)
        else:
            with RequestThread(self._threads):
                await super().__call__(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body of a request and answer it."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with contextlib.closing(body):
            thread = private.thread_sensitive_context()
            if not isinstance(thread, RequestThread) or not thread.claim():
                thread = None
            private.set_script_prefix(private.get_script_prefix(scope))
            await self._start(scope, thread)
            finish = await isolated(self._serve(scope, body, thread, receive, send))
            if finish is not None:
                await finish()

    async def _serve(
        self, scope: Scope, body: BinaryIO, thread: RequestThread | None, receive: Receive, send: Send
    ) -> Callable[[], Awaitable[None]] | None:
        """Answer a request.

        Returns:
            None if the request has ended. Otherwise, a function that ends the request and must run in the server's
            context. In this context, the project's receivers can read and change the context variables of the ASGI
            middleware around this application, as with Django.
        """
        request, response = self.create_request(scope, body)
        complete = True
        if request is None:
            body.close()
            await self.send_response(response, send)
        else:
            response, complete = await self._answer(request, receive, send)
        finish = functools.partial(self._finish, response, thread, complete)
        if self._finished.need_a_thread():
            return finish
        await finish()
        return None

    async def read_body(self, receive: Receive) -> BinaryIO:
        """Return the body of a request. An empty body needs no temporary file."""
        first = await receive()
        if first["type"] == "http.request" and not first.get("body") and not first.get("more_body"):
            return BytesIO()
        ahead = [first]

        async def receive_again() -> dict[str, Any]:
            return ahead.pop() if ahead else await receive()

        file: BinaryIO = await super().read_body(receive_again)
        return file

    async def _start(self, scope: Scope, thread: RequestThread | None) -> None:
        """Send request_started. If all receivers are Django's, the request's thread sends it before its first work."""
        if thread is None or self._started.need_a_thread():
            await signals.request_started.asend(sender=self._sender, scope=scope)
        else:
            thread.first = functools.partial(signals.request_started.send, sender=self._sender, scope=scope)

    async def _answer(self, request: HttpRequest, receive: Receive, send: Send) -> tuple[HttpResponseBase | None, bool]:
        """Answer a request.

        Returns:
            The response (None if the client disconnected before it was created), and whether all of the project's code
            ended normally. Some servers report a disconnection while they send the end of a response.
        """
        response, complete = None, False
        with UntilClientGoes(functools.partial(self.listen_for_disconnect, receive)) as client:
            response = await self.run_get_response(request)
            response._handler_class = self._sender
            if client.view_has_cancelled:
                await asyncio.sleep(0)  # await the cancellation now, because sending doesn't always wait
            complete = not (response.streaming or client.client_is_gone)
            await self.send_response(response, send)
        if client.client_is_gone:
            await asyncio.sleep(0)  # asyncio then cancels the request's jobs that wait for a thread
        return response, complete or not client.client_is_gone

    async def _finish(self, response: HttpResponseBase | None, thread: RequestThread | None, complete: bool) -> None:
        """Close a response, which sends request_finished. Use a thread if this can block.

        The signal isn't sent if all receivers are Django's and the request has created no connection and no cache.
        """
        if response is None:
            finish = functools.partial(signals.request_finished.send, sender=self._sender)
            blocks = False
        else:
            finish = response.close
            blocks = response.streaming or not private.closes_nothing(response)
        if thread is None:
            await sync_to_async(finish)()
        elif blocks or thread.needs_closing or self._finished.need_a_thread():
            private.forget_cancelled_calls()
            thread.finishing = True
            await sync_to_async(thread.finish)(finish)
        elif response is not None and private.nothing_is_initialised():
            private.close_unsent(response)
            private.reset_urlconf(self._sender)  # Django's other receivers have nothing to close
        else:
            finish()
        if thread is not None:
            thread.complete = complete

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response. With ``whole``, a synchronous view uses the synchronous chain of middleware."""
        if self._synchronous is not None and _is_synchronous(request):
            response: HttpResponseBase = await sync_to_async(self._synchronous.get_response)(request)
            return response
        response = await super().get_response_async(request)
        return response


def _is_synchronous(request: HttpRequest) -> bool:
    """Return whether a request has a synchronous view. Both chains can serve any view, but at different costs."""
    try:
        return not iscoroutinefunction(private.get_resolver().resolve(request.path_info).func)
    except Http404:
        return True
    except Exception:  # an error in a URL converter, which the asynchronous chain raises again
        return False
