"""Distribute the answers that arrive at a front to its requests."""

import asyncio
from typing import Any, Literal

from .messages import REPLIES, ReplyPart
from .patience import receive_patiently

Event = ReplyPart | Literal["gone", "late"]


class Inbox:
    """Collect the events of a waiting request: parts of its answer, `gone` and `late`."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self.put = self._events.put_nowait

    async def next(self, timeout: float) -> Event:
        """Return the next event, or `late` if `timeout` seconds pass without an event."""
        if not self._events.empty():
            return self._events.get_nowait()
        # A timer costs much less than asyncio.wait_for, which creates a task before Python 3.12.
        timer = asyncio.get_running_loop().call_later(timeout, self._late)
        try:
            return await self._events.get()
        finally:
            timer.cancel()

    def _late(self) -> None:
        if self._events.empty():  # a part that arrived at the same moment was in time
            self.put("late")


class Replies:
    """Read the reply channel of the process in one task."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._channel: str | None = None
        self._reader: asyncio.Task[None] | None = None
        self._inboxes: dict[str, Inbox] = {}

    async def channel(self) -> str:
        """Return the name of the channel.

        The first call starts the reader, because no event loop is running before that call.
        """
        if self._channel is None:
            name = await self._layer.new_channel(REPLIES)
            self._channel = self._channel or name  # another request may have created a channel during the await
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read(self._channel))
        return self._channel

    def expect(self, request_id: str) -> Inbox:
        """Return an inbox for the answers to this request, until `forget` is called."""
        inbox = self._inboxes[request_id] = Inbox()
        return inbox

    def forget(self, request_id: str) -> None:
        """Drop further answers to this request."""
        self._inboxes.pop(request_id, None)

    async def _read(self, channel: str) -> None:
        while True:
            part: ReplyPart = await receive_patiently(self._layer, channel)
            inbox = self._inboxes.get(part["id"])
            if inbox is not None:
                inbox.put(part)
