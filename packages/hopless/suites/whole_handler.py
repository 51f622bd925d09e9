"""Send each request of Django's synchronous test client through a complete ASGI handler.

After ``run_tests.py`` has called ``install``, the client converts each request to an ASGI scope, calls the handler in
an event loop, and returns the handler's response. Synchronous code runs in the test's thread, so that it sees the
test's transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import async_to_sync
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.http import HttpRequest
from django.test.client import ClientHandler

EXCHANGE = "test_client"


class Exchange:
    """A request of the test client, and the response of the handler.

    Args:
        request: The WSGI request that the client created.
    """

    def __init__(self, request: Any) -> None:
        self.request = request
        self.response: Any = None
        self.body = b""
        environ = request.environ
        headers = {name.removeprefix("HTTP_"): value for name, value in environ.items() if _is_header(name)}
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": environ["wsgi.url_scheme"],
            "method": environ["REQUEST_METHOD"],
            "path": request.path,
            "root_path": environ.get("SCRIPT_NAME", ""),
            "query_string": environ.get("QUERY_STRING", "").encode("latin-1", "replace"),
            "server": (environ["SERVER_NAME"], environ["SERVER_PORT"]),
            "headers": [
                (name.replace("_", "-").lower().encode(), str(value).encode("latin-1", "replace"))
                for name, value in headers.items()
            ],
            EXCHANGE: self,
        }
        self._unread = [request.read()]

    def prepare(self, request: HttpRequest | None) -> None:
        """Copy attributes that the client set on its WSGI request, such as a forced user, to the handler's request."""
        if request is not None:
            for name, value in self.request.META.items():
                if not name.startswith("wsgi."):
                    request.META.setdefault(name, value)
            for name, value in vars(self.request).items():
                vars(request).setdefault(name, value)

    async def receive(self) -> dict[str, Any]:
        if self._unread:
            return {"type": "http.request", "body": self._unread.pop()}
        await asyncio.Future()  # wait until the handler cancels this call
        raise AssertionError

    async def send(self, message: dict[str, Any]) -> None:
        self.body += message.get("body", b"")


def _is_header(name: str) -> bool:
    return name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")


def install(handler_class: Any, make: Callable[[Any], Any]) -> None:
    """Let the test client use an ASGI handler.

    Args:
        handler_class: The class of the handler that serves the requests.
        make: A function that creates a handler of the given class, which is a subclass of ``handler_class``.
    """

    class ObservedHandler(handler_class):  # type: ignore[misc]
        def create_request(self, scope: Any, body: Any) -> Any:
            request, response = super().create_request(scope, body)
            scope[EXCHANGE].prepare(request)
            scope[EXCHANGE].response = response
            return request, response

        async def run_get_response(self, request: Any) -> Any:
            response = await super().run_get_response(request)
            request.scope[EXCHANGE].response = response
            vars(request.scope[EXCHANGE].request).update(vars(request))
            return response

    # The class must be importable, because tests that pickle a response also pickle the handler's class.
    ObservedHandler.__qualname__ = ObservedHandler.__name__
    globals()[ObservedHandler.__name__] = ObservedHandler

    def load_middleware(self: Any, is_async: bool = False) -> None:
        self._middleware_chain = make(ObservedHandler)

    def get_response(self: Any, request: Any) -> Any:
        exchange = Exchange(request)
        with _connections_kept():
            async_to_sync(self._middleware_chain)(exchange.scope, exchange.receive, exchange.send)
        if exchange.response.streaming:
            exchange.response.streaming_content = [exchange.body]
        return exchange.response

    ClientHandler.load_middleware = load_middleware
    ClientHandler.get_response = get_response


@contextmanager
def _connections_kept() -> Iterator[None]:
    """Keep the test's database connections open, like Django's test client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
