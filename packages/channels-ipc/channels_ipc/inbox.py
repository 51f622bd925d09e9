"""Store group messages in the memory of the process that receives them."""

from collections import deque
from typing import NamedTuple


class GroupMessage(NamedTuple):
    """A message to a group.

    `sent` is the number of the transaction that sent the message. If `is_next` is True, the store has no older message
    on the channel.
    """

    sent: int
    expires: float
    payload: bytes
    is_next: bool


class Inbox:
    """Queues of group messages, one for each channel of `process` that has messages.

    Only this process receives on these channels, so the messages can leave the shared file before they are received.
    When the process ends, the channels cease to exist.
    """

    def __init__(self, process: str) -> None:
        self.process = process
        self._queues: dict[str, deque[GroupMessage]] = {}
        self.arrivals: list[str] = []
        self._latest_parcel = 0
        self._latest_flush = b""

    def count(self, channel: str, now: float) -> int:
        """Remove expired messages, and return the number of remaining messages of `channel`."""
        queue = self._queues.get(channel)
        while queue and queue[0].expires <= now:
            queue.popleft()
        return len(queue) if queue else 0

    def put(self, channel: str, message: GroupMessage) -> None:
        if channel not in self._queues:
            self._queues[channel] = deque()
        self._queues[channel].append(message)
        self.arrivals.append(channel)

    def pop_arrivals(self) -> list[str]:
        """Return a channel for each message since the last call, so that the caller can wake a receiver."""
        arrivals, self.arrivals = self.arrivals, []
        return arrivals

    def find(self, channel: str, now: float) -> tuple[str, GroupMessage] | None:
        """Return the oldest message of a channel, or of all channels of a prefix, together with its channel."""
        if not channel.endswith("!"):
            return (channel, self._queues[channel][0]) if self.count(channel, now) else None
        names = [name for name in self._queues if name.startswith(channel) and self.count(name, now)]
        if not names:
            return None
        oldest = min(names, key=lambda name: self._queues[name][0].sent)
        return oldest, self._queues[oldest][0]

    def pop_next(self, channel: str, now: float) -> bytes | None:
        """Remove and return the oldest message of a channel, unless the store may have an older message."""
        queue = self._queues.get(channel)
        if not queue or not queue[0].is_next or queue[0].expires <= now:
            return None
        return self.pop(channel)

    def pop(self, channel: str) -> bytes:
        queue = self._queues[channel]
        message = queue.popleft()
        if not queue:
            del self._queues[channel]
        return message.payload

    def sweep(self, now: float) -> None:
        """Remove expired messages, also on channels without a receiver."""
        self._queues = {channel: queue for channel, queue in self._queues.items() if self.count(channel, now)}

    def is_new(self, parcel: int) -> bool:
        """Check whether the parcel of this transaction arrives for the first time.

        A parcel arrives again if the file system was too full to remove the parcel from the shared file.
        """
        new = parcel > self._latest_parcel
        self._latest_parcel = max(parcel, self._latest_parcel)
        return new

    def obey_flush(self, flush: bytes) -> None:
        """Remove all messages if `flush`, the count of flushes, has changed since the last call."""
        if flush != self._latest_flush:
            self._latest_flush = flush
            self._queues.clear()
