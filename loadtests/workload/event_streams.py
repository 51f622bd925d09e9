"""Streams of server-sent events that are read while requests are sent."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError
from loadtests.workload.conversation import MOST_CONNECTIONS
from loadtests.workload.request import Request

PROTOCOL = "events"  # of the generator


@dataclasses.dataclass(frozen=True)
class EventStreams:
    """``count`` streams at once, each over a connection of its own: answers to ``request`` of ``events`` events, which
    the server sends every ``interval_s``; ``body`` is the whole answer (None: not checked). One that has ended begins
    again. Their first ones begin spread over the length of a stream; none begins after the load's duration, and those
    that are then under way have its grace period.

    ``pause_s``: after its first event a client reads nothing for so long.

    ``leave_s``: so long after it was due a client leaves, and another one comes. With ``endings`` the request of each
    stream has a parameter ``note``, some text, a dot and a number. ``endings`` is then asked with that text which of
    their views have ended: its answer has a line for each, with the number and how many seconds ago that was.

    Raises UserError where there are too many or none.
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
        if not 1 <= self.count <= MOST_CONNECTIONS:
            raise UserError(f"there may be from 1 to {MOST_CONNECTIONS:,} streams at once, not {self.count}")

    @property
    def length_s(self) -> float:
        """How long a stream lasts that is never late."""
        return self.events * self.interval_s
