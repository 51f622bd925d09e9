"""Represent a request in a worker, for the ASGI application that answers the request."""

import asyncio
import time
from collections import deque
from collections.abc import MutableMapping
from typing import Any

from .messages import BodyPart, Head, InOrder, ReplyPart, Request, body_channel, split
from .patience import receive_patiently, send_patiently


class Exchange:
    """Provide `receive` and `send` for a request that came over a channel layer.

    Args:
        layer: The channel layer for the answer.
        request: The request, with the first bytes of its body.
        timeout: The seconds that a part of the answer may wait for room on the reply channel.
    """

    def __init__(self, layer: Any, request: Request, timeout: float) -> None:
        self.id = request["id"]
        self._layer = layer
        self._request = request
        self._timeout = timeout
        self._gone = asyncio.Event()
        self._body: deque[BodyPart] = deque()
        self._body_order = InOrder()
        self._body_wanted = True
        self._first_given = False
        self._head: Head | None = None
        self._sent = 0  # the number of parts of the answer that were sent
        self._complete = False

    def disconnect(self) -> None:
        """Record that the client has disconnected."""
        self._gone.set()

    async def receive(self) -> dict[str, Any]:
        """Return the next part of the body, or `http.disconnect` after the client has disconnected."""
        if not self._first_given:
            self._first_given = True
            self._body_wanted = self._request["more_body"]
            return {"type": "http.request", "body": self._request["body"], "more_body": self._body_wanted}
        if self._body_wanted:
            part = await self._next_body_part()
            if part is not None:
                self._body_wanted = part["more_body"]
                return {"type": "http.request", "body": part["body"], "more_body": part["more_body"]}
            self.disconnect()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part of the answer to the front. After `disconnect`, drop the part."""
        if message["type"] == "http.response.start":
            # Keep the head until the first part of the body, because an ASGI server may not send it earlier.
            self._head = Head(status=message["status"], headers=list(message.get("headers", [])))
            return
        if self._head is None and self._sent == 0:
            raise RuntimeError("the application sent a body before it started the response")
        pieces = split(message.get("body", b""))
        more_body = message.get("more_body", False)
        for piece in pieces[:-1]:
            await self._send_part(piece, more_body=True)
        await self._send_part(pieces[-1], more_body=more_body)
        self._complete = not more_body

    async def finish(self) -> None:
        """Complete an answer that the application left unfinished.

        If no part was sent, the client receives a 500. If the answer has started, its last part is marked as broken.
        """
        if self._complete or self._gone.is_set():
            return
        if self._sent:
            await self._send_part(b"", more_body=False, broken=True)
            return
        body = b"Internal Server Error\n"
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        await self.send({"type": "http.response.start", "status": 500, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})

    async def _send_part(self, body: bytes, *, more_body: bool, broken: bool = False) -> None:
        if self._gone.is_set():
            return
        part = ReplyPart(
            id=self.id,
            number=self._sent,
            head=self._head,
            body=body,
            more_body=more_body,
            broken=broken,
        )
        if not await send_patiently(self._layer, self._request["reply_channel"], part, self._timeout):
            self.disconnect()
        self._sent += 1
        self._head = None

    async def _next_body_part(self) -> BodyPart | None:
        """Return the next part of the body.

        Returns:
            The part, or None if the client disconnects or the request's deadline passes first.
        """
        while not self._body:
            message = asyncio.ensure_future(receive_patiently(self._layer, body_channel(self.id)))
            gone = asyncio.ensure_future(self._gone.wait())
            await asyncio.wait(
                {message, gone},
                timeout=max(0.0, self._request["deadline"] - time.time()),
                return_when=asyncio.FIRST_COMPLETED,
            )
            gone.cancel()
            if not message.done():
                message.cancel()
                return None
            self._body.extend(self._body_order.add(message.result()))
        return self._body.popleft()
