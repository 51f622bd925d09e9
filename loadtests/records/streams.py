"""The results of streams of server-sent events."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Count, Figures, about


@dataclasses.dataclass(frozen=True)
class LeftClients:
    """Clients that left in the middle of their streams, and the states of their views."""

    clients: Annotated[Count, about("Clients that left.")]
    ended: Annotated[Count, about("Those whose view is known to have ended by the end of the grace period.")]
    running: Annotated[Count, about("Others whose view had begun; of the rest the server said nothing.")]
    late: Annotated[Count, about("Of both, those whose view went on for longer than a second.")]
    after_ms: Annotated[Figures, about("From when the client left until its view had ended.")]

    @property
    def views(self) -> int:
        """The number of views that had started."""
        return self.ended + self.running


@dataclasses.dataclass(frozen=True)
class Streams:
    """Streams of events: begun = whole + broken + unanswered + cut + those whose client left."""

    begun: Annotated[Count, about("Streams that were asked for.")]
    whole: Annotated[Count, about("Those whose events all came.")]
    broken: Annotated[Count, about("Those that the server refused, broke off, or answered otherwise.")]
    unanswered: Annotated[Count, about("Those without a single event by the end of the grace period.")]
    cut: Annotated[Count, about("Others that were under way then.")]
    answered: Annotated[Count, about("Streams that had a first event.")]
    events: Annotated[Count, about("Events that came.")]
    in_time: Annotated[Count, about("Those of them that came within duration_s.")]
    missing: Annotated[Count, about("Events that did not, of streams that had some and were broken or stood still.")]
    most: Annotated[Count, about("The most streams between their first and last event at once.")]
    first_ms: Annotated[Figures, about("From when a stream was due until its first event.")]
    delay_ms: Annotated[
        Figures, about("By what each event came after the schedule that its stream's most punctual event kept.")
    ]
    reading_lag_ms: Annotated[Figures, about("How long events may have lain in the generator.")]
    reason: Annotated[str, about("Why the first one was broken.")] = ""
    left: Annotated[LeftClients | None, about("Clients that left in the middle, where they do.")] = None

    @property
    def failed(self) -> int:
        """The number of streams that were broken or had no event."""
        return self.broken + self.unanswered

    @property
    def due(self) -> int:
        """The number of expected events, whether they arrived or not."""
        return self.events + self.missing
