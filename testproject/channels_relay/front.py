"""Pass HTTP requests to workers over a channel layer, as an ASGI application."""

import asyncio
import itertools
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.core.exceptions import ImproperlyConfigured

from .messages import REQUESTS, WORKERS, Abandoned, BodyPart, InOrder, Request, body_channel, portable, split
from .options import Options, options
from .patience import describe, send_patiently
from .replies import Inbox, Replies

logger = logging.getLogger("channels_relay")

# The number of requests that are sent to the layer at the same time. More requests would only wait in the layer's
# client and use up its connections. The task that reads the answers also needs a connection.
SENDING_AT_ONCE = 100

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Refused(Exception):
    """A request that the front itself answers, with a status and a line of text."""

    def __init__(self, status: int, line: str) -> None:
        self.status = status
        self.line = line


class ClientGone(Exception):
    """A client that disconnected before its request was complete."""


class RelayFront:
    """Let workers (`manage.py runrelayworker`) on the same channel layer answer HTTP requests.

    An instance serves one event loop. The front raises ValueError for protocols other than HTTP, as the ASGI
    specification requires.

    Args:
        layer: The channel layer. By default, the layer named in the options.
        relay_options: The options. By default, the options in the settings.
    """

    def __init__(self, layer: Any = None, relay_options: Options | None = None) -> None:
        self.options = relay_options or options()
        self.layer = layer or get_channel_layer(self.options.layer)
        if self.layer is None:
            raise ImproperlyConfigured(f"CHANNEL_LAYERS has no layer {self.options.layer!r} for channels_relay")
        self._replies = Replies(self.layer)
        self._turns = asyncio.Semaphore(SENDING_AT_ONCE)
        self._ids = (f"{uuid.uuid4().hex}-{number}" for number in itertools.count())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"channels_relay supports only HTTP, not {scope['type']}")
        try:
            body = await self._read_body(scope, receive)
            await self._relay(scope, body, receive, send)
        except ClientGone:
            pass
        except Refused as refused:
            await answer(send, refused.status, refused.line)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        """Read the whole body, so that no worker waits for a slow client or starts work that ends with a 413.

        Raises:
            Refused: If the body exceeds the limit.
            ClientGone: If the client disconnects.
        """
        refusal = Refused(413, f"The request body is larger than {self.options.body_limit} bytes.")
        if declared_length(scope) > self.options.body_limit:
            raise refusal
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if len(body) > self.options.body_limit:
                raise refusal
            if not message.get("more_body", False):
                return bytes(body)

    async def _relay(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        reply_channel = await self._replies.channel()
        request_id = next(self._ids)
        first, *rest = split(body)
        request = Request(
            id=request_id,
            reply_channel=reply_channel,
            deadline=time.time() + self.options.timeout,
            scope=portable(scope),
            body=first,
            more_body=bool(rest),
        )
        inbox = self._replies.expect(request_id)
        watch = asyncio.create_task(watch_client(receive, inbox))
        try:
            await self._enqueue(request)
            answered = False
            try:
                await self._send_rest(request_id, rest)
                answered = await self._deliver(inbox, send)
            finally:
                if not answered:
                    await self._abandon(request_id)
        finally:
            watch.cancel()
            self._replies.forget(request_id)

    async def _enqueue(self, request: Request) -> None:
        """Send the request once, because two workers could answer a request that is sent twice.

        Raises:
            Refused: If the queue is full, or the layer fails.
        """
        try:
            async with self._turns:
                await self.layer.send(REQUESTS, request)
        except ChannelFull:
            raise Refused(503, "The queue of requests is full.") from None
        except Exception as error:  # each layer raises different exceptions
            logger.error("cannot send a request: %s", describe(error))
            raise Refused(503, "The channel layer cannot be reached.") from None

    async def _send_rest(self, request_id: str, rest: list[bytes]) -> None:
        """Send the pieces of the body that follow the first piece.

        The pieces are sent after the request. If the layer refuses the request, it never has to store the pieces.

        Raises:
            Refused: If a piece can't be sent in time.
        """
        channel = body_channel(request_id)
        for number, piece in enumerate(rest):
            part = BodyPart(number=number, body=piece, more_body=number < len(rest) - 1)
            if not await send_patiently(self.layer, channel, part, self.options.timeout):
                raise Refused(504, "The request's body could not be sent in time.")

    async def _deliver(self, inbox: Inbox, send: Send) -> bool:
        """Pass the parts of the answer to the client.

        Returns:
            Whether the answer was complete.

        Raises:
            Refused: If the first part doesn't arrive in time.
        """
        parts = InOrder()
        started = False
        while True:
            event = await inbox.next(self.options.timeout)
            if event == "gone":
                return False
            if event == "late":
                if not started:
                    raise Refused(504, "No worker answered in time.")
                return cut_short(parts.gap or f"no part arrived for {self.options.timeout:g} s")
            for part in parts.add(event):
                if part["broken"]:
                    return cut_short("the application failed")
                if not started:
                    await send({"type": "http.response.start", **part["head"]})
                    started = True
                body, more_body = part["body"], part["more_body"]
                await send({"type": "http.response.body", "body": body, "more_body": more_body})
                if not more_body:
                    return True

    async def _abandon(self, request_id: str) -> None:
        try:
            async with self._turns:
                await self.layer.group_send(WORKERS, Abandoned(id=request_id))
        except Exception as error:  # a worker then handles the request although its client has disconnected
            logger.warning("cannot inform the workers that a client has disconnected: %s", describe(error))


def cut_short(reason: str) -> bool:
    """Log that an answer is incomplete.

    The front then returns without completing the response, and servers close the connection. Daphne 4.2 keeps the
    connection open, so the client waits until its own timeout. The front can't raise an exception instead, because the
    exception would end the loop in which Daphne checks its connections.

    Returns:
        Always False.
    """
    logger.error("an answer was cut short: %s", reason)
    return False


def declared_length(scope: Scope) -> int:
    """Return the Content-Length in bytes, or 0 without this header. The server has checked the value."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def watch_client(receive: Receive, inbox: Inbox) -> None:
    """Put `gone` into the inbox when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    inbox.put("gone")


async def answer(send: Send, status: int, line: str) -> None:
    """Send a complete answer with a line of text."""
    body = f"{line}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
