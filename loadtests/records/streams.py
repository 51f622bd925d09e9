"""The results of streams of server-sent events."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Count, Figures, about


@dataclasses.dataclass(frozen=True)
class LeftClients:
    """Clients that left in the middle of their streams, and the states of their views."""

    clients: Annotated[Count, about("Clients that left.")]
    ended: Annotated[Count, about("The clients whose view is known to have ended before the end of the grace period.")]
    running: Annotated[Count, about("The other clients whose view had started. The server didn't report the rest.")]
    late: Annotated[Count, about("The clients of both kinds whose view ran for more than a second afterwards.")]
    after_ms: Annotated[Figures, about("The time from the client's leaving until its view ended.")]

    @property
    def views(self) -> int:
        """The number of views that had started."""
        return self.ended + self.running


@dataclasses.dataclass(frozen=True)
class Streams:
    """Streams of events: started = whole + broken + unanswered + cut + streams whose client left."""

    begun: Annotated[Count, about("Requested streams.")]
    whole: Annotated[Count, about("Streams with all events.")]
    broken: Annotated[Count, about("The streams that the server refused, interrupted, or answered wrongly.")]
    unanswered: Annotated[Count, about("The streams without an event at the end of the grace period.")]
    cut: Annotated[Count, about("Other streams that were running at that time.")]
    answered: Annotated[Count, about("The streams with a first event.")]
    events: Annotated[Count, about("Events that came.")]
    in_time: Annotated[Count, about("The events that arrived within duration_s.")]
    missing: Annotated[Count, about("Missing events of streams that had some events and then stopped.")]
    most: Annotated[
        Count, about("The maximum number of streams that were between their first and last event at the same time.")
    ]
    first_ms: Annotated[Figures, about("The time from a stream's due time until its first event.")]
    delay_ms: Annotated[
        Figures, about("The delay of each event after the schedule of its stream's most punctual event.")
    ]
    reading_lag_ms: Annotated[Figures, about("The time that events may have waited in the generator.")]
    reason: Annotated[str, about("The reason for the first broken stream.")] = ""
    left: Annotated[LeftClients | None, about("Clients that left in the middle, if the test has such clients.")] = None

    @property
    def failed(self) -> int:
        """The number of streams that were broken or had no event."""
        return self.broken + self.unanswered

    @property
    def due(self) -> int:
        """The number of expected events, whether they arrived or not."""
        return self.events + self.missing
