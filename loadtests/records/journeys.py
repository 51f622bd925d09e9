"""What became of users' journeys."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Figures, Ordinal, Positive, about
from loadtests.records.request_result import RequestResult


@dataclasses.dataclass(frozen=True)
class Journeys:
    """The journeys that ended while a load was measured."""

    users: Annotated[Ordinal | None, about("Users of a closed loop; null with arrivals.")]
    arrivals: Annotated[Positive | None, about("New users a second; null in a closed loop.")]
    completed: Annotated[Count, about("Journeys that were completed.")]
    broken_off: Annotated[Count, about("Journeys that a failure ended.")]
    under_way_first: Annotated[Count, about("Journeys under way at the start.")]
    under_way_last: Annotated[Count, about("Journeys under way at the end.")]
    duration_ms: Annotated[Figures, about("Duration of completed journeys, from their intended start.")]
    methods: Annotated[tuple[RequestResult, ...], about("A row for GET and one for POST.")]
    think_ms: Annotated[Amount | None, about("Mean think time for each request.")]
    wait_ms: Annotated[Amount | None, about("Mean time that users waited for each request.")]
    ended_per_s: Annotated[Amount | None, about("Requests that ended per second.")]
    expected_per_s: Annotated[
        Amount | None,
        about("What they are by the arithmetic of a closed loop: users by request over think and wait; null else."),
    ]

    def method(self, name: str) -> RequestResult | None:
        """What became of the requests of a method; None where there were none."""
        return next((one for one in self.methods if one.name == name), None)

    @property
    def disagreement(self) -> float | None:
        """By what share the arithmetic of the closed loop is off; None where there is none. Above 0 the injectors were
        saturated: users neither thought nor waited for a time."""
        if not self.expected_per_s or not self.ended_per_s:
            return None
        return self.expected_per_s / self.ended_per_s - 1
