"""Keep the waiting receivers of this process by channel."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress


class Waiting:
    """A call of receive() that waits for a message.

    `ticket` is the ticket on the channel's list of waiters, or "" for a local channel, which doesn't need a list.
    """

    __slots__ = ("channel", "future", "loop", "rung", "ticket")

    def __init__(self, channel: str, ticket: str, loop: asyncio.AbstractEventLoop) -> None:
        self.channel = channel
        self.ticket = ticket
        self.loop = loop
        self.future: asyncio.Future[None] = loop.create_future()
        self.rung = False

    def wake(self) -> bool:
        """Let receive() check again in its own event loop, and return False if the loop is closed."""
        self.rung = True
        if asyncio._get_running_loop() is self.loop:
            self._resolve()
            return True
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._resolve)
            return True
        return False

    def _resolve(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class WaitingRoom:
    """Keep the waiting receivers by channel and by ticket, in the order of arrival."""

    def __init__(self) -> None:
        self._by_channel: dict[str, dict[Waiting, None]] = {}
        self._by_ticket: dict[str, Waiting] = {}
        self._latest_ticket = 0

    def draw_ticket(self) -> str:
        """Return a ticket. When the tickets of all processes are sorted, they are in the order of these calls."""
        self._latest_ticket = max(self._latest_ticket + 1, time.monotonic_ns())
        return f"{self._latest_ticket:016x}"

    def __iter__(self) -> Iterator[Waiting]:
        return (waiting for same_channel in self._by_channel.values() for waiting in same_channel)

    def add(self, waiting: Waiting) -> None:
        self._by_channel.setdefault(waiting.channel, {})[waiting] = None
        if waiting.ticket:
            self._by_ticket[waiting.ticket] = waiting

    def discard(self, waiting: Waiting) -> None:
        same_channel = self._by_channel.get(waiting.channel, {})
        same_channel.pop(waiting, None)
        if not same_channel:
            self._by_channel.pop(waiting.channel, None)
        self._by_ticket.pop(waiting.ticket, None)

    def wake_ticket(self, ticket: str) -> bool:
        """Wake the receiver with this ticket, and return False if it doesn't wait in this process."""
        waiting = self._by_ticket.get(ticket)
        if waiting is None:
            return False
        self.discard(waiting)
        return waiting.wake()

    def wake_first(self, *channels: str) -> None:
        """Find the first channel that has a receiver, and wake the receiver that has waited longest on it."""
        for channel in channels:
            while same_channel := self._by_channel.get(channel):
                waiting = next(iter(same_channel))
                self.discard(waiting)
                if waiting.wake():
                    return
