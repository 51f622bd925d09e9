"""Define the results of streams of server-sent events."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Count, Figures, about


@dataclasses.dataclass(frozen=True)
class LeftClients:
    """Clients that left in the middle of their streams, and the states of the views that they had requested."""

    clients: Annotated[Count, about("The number of clients that left.")]
    ended: Annotated[Count, about("The clients whose view is known to have ended before the end of the grace period.")]
    running: Annotated[
        Count, about("Other clients whose view had started. The server reported no view for the remaining clients.")
    ]
    late: Annotated[
        Count, about("Clients in ``ended`` or ``running`` whose view ran for more than a second after they had left.")
    ]
    after_ms: Annotated[Figures, about("The time between a client's departure and the end of its view.")]

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
    cut: Annotated[Count, about("Streams with events that were still running at the end of the grace period.")]
    answered: Annotated[Count, about("The streams with a first event.")]
    events: Annotated[Count, about("The number of events that arrived.")]
    in_time: Annotated[Count, about("The events that arrived within duration_s.")]
    missing: Annotated[Count, about("The missing events of streams that stopped after some events.")]
    most: Annotated[
        Count, about("The maximum number of streams that were between their first and last event at the same time.")
    ]
    first_ms: Annotated[Figures, about("The time from a stream's due time until its first event.")]
    delay_ms: Annotated[Figures, about("The delay of each event, relative to the most punctual event of its stream.")]
    reading_lag_ms: Annotated[Figures, about("The time that events may have waited in the generator.")]
    reason: Annotated[str, about("The reason why the first broken stream was broken.")] = ""
    left: Annotated[LeftClients | None, about("Clients that left during their streams, if the test has any.")] = None

    @property
    def failed(self) -> int:
        """The number of streams that were broken or had no event."""
        return self.broken + self.unanswered

    @property
    def due(self) -> int:
        """The number of expected events, whether they arrived or not."""
        return self.events + self.missing
