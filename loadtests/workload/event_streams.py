"""Describe streams of server-sent events that a load reads while it sends requests."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.request import Request

PROTOCOL = "events"  # name of the generator's protocol


@dataclasses.dataclass(frozen=True)
class EventStreams:
    """A fixed number of simultaneous streams, each over a separate connection.

    When a stream ends, another stream starts. The first streams start at different times within the length of a stream.
    No stream starts after the load's duration, and streams that are running at that time may end within the grace
    period.

    Args:
        request: The request of a stream.
        count: The number of simultaneous streams.
        events: The number of events in a stream.
        interval_s: The time between two events, in seconds.
        body: The expected answer, or None to skip the check.
        pause_s: The seconds for which a client reads nothing after its first event.
        leave_s: The seconds from the due start of a stream until its client leaves and another client comes. None means
            that no client leaves.
        endings: A request that returns the ended views. The request of each stream has a parameter ``note``, which
            consists of a text, a dot and a number. In the request ``endings``, this parameter is only the text. The
            answer contains a line for each ended view, with its number and the seconds since its end.

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
            raise UserError(
                f"the number of simultaneous streams must be from 1 to {MAX_CONNECTIONS:,}, not {self.count}"
            )

    @property
    def length_s(self) -> float:
        """The length of a stream without delays, in seconds."""
        return self.events * self.interval_s
