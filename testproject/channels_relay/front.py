"""The ASGI application in front of a channel layer: it has requests answered by workers."""

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

# Requests given to the layer at the same moment. More would only wait for each other in the layer's client,
# and use up its connections, which the reader of the answers needs as well.
SENDING_AT_ONCE = 100

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Refused(Exception):
    """The front answers by itself, with a status and one line."""

    def __init__(self, status: int, line: str) -> None:
        self.status = status
        self.line = line


class ClientGone(Exception):
    """Nobody is there to be answered."""


class RelayFront:
    """Answers HTTP by way of workers (`manage.py runrelayworker`) on the same channel layer.

    Takes the layer and the options from the settings where they are not given. One instance serves one event
    loop. Other protocols are refused with ValueError, as ASGI asks.
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
            raise ValueError(f"channels_relay carries HTTP, not {scope['type']}")
        try:
            body = await self._read_body(scope, receive)
            await self._relay(scope, body, receive, send)
        except ClientGone:
            pass
        except Refused as refused:
            await answer(send, refused.status, refused.line)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body: a worker must not wait for a slow client, and 413 comes before any work."""
        refusal = Refused(413, f"The request body is over {self.options.body_limit} bytes.")
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
        """Send once, without trying again: a request must not be handled twice."""
        try:
            async with self._turns:
                await self.layer.send(REQUESTS, request)
        except ChannelFull:
            raise Refused(503, "The queue of requests is full.") from None
        except Exception as error:  # each layer has errors of its own
            logger.error("cannot send a request: %s", describe(error))
            raise Refused(503, "The channel layer is out of reach.") from None

    async def _send_rest(self, request_id: str, rest: list[bytes]) -> None:
        """The body's other pieces, after the request, so that none are left behind where there is no room."""
        channel = body_channel(request_id)
        for number, piece in enumerate(rest):
            part = BodyPart(number=number, body=piece, more_body=number < len(rest) - 1)
            if not await send_patiently(self.layer, channel, part, self.options.timeout):
                raise Refused(504, "The request's body could not be sent in time.")

    async def _deliver(self, inbox: Inbox, send: Send) -> bool:
        """Pass the answer on, part by part. Returns whether all of it came."""
        parts = InOrder()
        started = False
        while True:
            event = await inbox.next(self.options.timeout)
            if event == "gone":
                return False
            if event == "late":
                if not started:
                    raise Refused(504, "No worker answered in time.")
                return cut_short(parts.gap or f"no part came for {self.options.timeout:g} s")
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
        except Exception as error:  # the worker then does work that nobody waits for
            logger.warning("cannot tell workers that a client is gone: %s", describe(error))


def cut_short(reason: str) -> bool:
    """Log that an answer ends before its end; always False.

    The front then returns without completing the response. Servers close the connection on that, except for
    Daphne 4.2, which leaves it to the client's timeout; but to raise would end Daphne's loop that looks
    after all connections.
    """
    logger.error("an answer was cut short: %s", reason)
    return False


def declared_length(scope: Scope) -> int:
    """Content-Length in bytes, 0 where there is none; the server has checked it."""
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
    """A whole answer of one line of text."""
    body = f"{line}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
