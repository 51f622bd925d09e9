"""What became of one of the requests of a mix."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Count, ErrorKind, Figures, about


@dataclasses.dataclass(frozen=True)
class RequestResult:
    """One request of a mix, or a route and method of a journey; the fields are those of the result."""

    name: Annotated[str, about("The request's name.")]
    planned: Annotated[Count, about("Requests in the schedule.")]
    sent: Annotated[Count, about("Requests that were sent.")]
    completed: Annotated[Count, about("Requests that were answered.")]
    ok: Annotated[Count, about("Requests that were answered as expected.")]
    unfinished: Annotated[Count, about("Requests that had no end.")]
    errors: Annotated[dict[ErrorKind, Count], about("Failed requests by kind.")]
    response_time_ms: Annotated[Figures, about("Answered minus intended send.")]
