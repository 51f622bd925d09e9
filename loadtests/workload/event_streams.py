"""Streams of server-sent events that are read while requests are sent."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.request import Request

PROTOCOL = "events"  # the generator's protocol


@dataclasses.dataclass(frozen=True)
class EventStreams:
    """A number of streams at the same time, each over a separate connection.

    An ended stream starts again. The first streams start at different times within the length of a stream. No stream
    starts after the load's duration, and streams that are running at that time have the grace period.

    Args:
        request: The request of a stream.
        count: The number of streams at the same time.
        events: The number of events in a stream.
        interval_s: The time between the server's events.
        body: The complete answer, or None to skip the check.
        pause_s: A client reads nothing for this time after its first event.
        leave_s: A client leaves at this time after its stream was due, and another one comes.
        endings: A request that returns the ended views. Each stream's request has a parameter ``note``, which is a
            text, a dot and a number. ``endings`` gets the text. Its answer has a line for each ended view, with the
            number and the seconds since its end.

    Raises:
        UserError: If the number of streams isn't valid.
    """

    request: Request
    count: int
    events: int
    interval_s: float
    body: bytes | None = None
    pause_s: float = 0.0
    leave_s: float | None = None
    endings: Request | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_CONNECTIONS:
            raise UserError(f"there may be from 1 to {MAX_CONNECTIONS:,} streams at once, not {self.count}")

    @property
    def length_s(self) -> float:
        """The length of a stream without delays."""
        return self.events * self.interval_s
