"""The measurements of a load, in the same form for all engines."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from msgspec import Meta

from loadtests.records.bounds import (
    FIGURES,
    PERCENTILES,
    Amount,
    Count,
    Ending,
    ErrorKind,
    Figures,
    Number,
    Ordinal,
    Positive,
    about,
)
from loadtests.records.streams import Streams
from loadtests.records.websockets import Connections, Deliveries

__all__ = ["FIGURES", "NOTHING", "PERCENTILES", "Figures", "Result", "Second"]

ERROR_KINDS = ("status", "timeout", "refused", "reset", "wrong-body", "mixed-up", "lost-session", "other")
BROKEN = ("wrong-body", "mixed-up")  # answers that differ from the contract
LONGEST_TIMELINE_S = 100_000  # more than a day

NOTHING: Figures = dict.fromkeys(FIGURES)


@dataclasses.dataclass(frozen=True)
class Second:
    """One second of a load. None means that the value isn't known, as in older runs."""

    t: Annotated[Amount, about("The start, in seconds after the load's start.")]
    sent: Annotated[Count, about("The requests that were sent in this second.")]
    completed: Annotated[Count, about("The requests that were answered in this second.")]
    ok: Annotated[Count, about("The requests that were answered as expected in this second.")]
    errors: Annotated[Count, about("The requests that failed in this second.")]
    p50_ms: Annotated[Number | None, about("Median of the times that latency_of names, of successful requests.")]
    p99_ms: Annotated[Number | None, about("Their 99th percentile.")]
    p95_ms: Annotated[Number | None, about("Their 95th percentile.")] = None
    heat: Annotated[
        tuple[tuple[Amount, Count], ...], about("Those times by steps of a heat map: lower end in ms, and number.")
    ] = ()
    ends: Annotated[
        dict[Ending, Count] | None,
        about(
            "The numbers of requests by outcome: a status, stale for a copy (X-Stale), an error's kind, or ok without "
            "statuses."
        ),
    ] = None


@dataclasses.dataclass(frozen=True)
class Generator:
    """The resources that a process of the load generator used.

    None means that the value isn't known, as in older runs.
    """

    cpu_s: Annotated[Amount, about("The CPU seconds, including the grace period.")]
    wall_s: Annotated[Amount, about("The seconds in which it sent requests.")]
    peak_rss_mb: Annotated[Amount, about("Peak memory, in MB.")]
    p50_ms: Annotated[Number | None, about("Median response time of its part of the load.")] = None
    ok: Annotated[Count | None, about("Successful requests of its part of the load.")] = None
    planned: Annotated[Count | None, about("Planned requests of its part of the load.")] = None
    machine: Annotated[str, about("The additional client on which it ran. It is empty for the harness's machine.")] = ""
    other_load: Annotated[Amount | None, about("The share of that client's core that other programs used.")] = None
    swapped_pages: Annotated[Count | None, about("Pages that the client swapped.")] = None
    mhz: Annotated[Amount | None, about("Mean frequency of the client's core.")] = None


@dataclasses.dataclass(frozen=True)
class Handshakes:
    """The TLS handshakes of connections that were opened for measured requests."""

    full: Annotated[Count, about("Full handshakes.")]
    resumed: Annotated[Count, about("Handshakes that resumed a session of an earlier connection.")]


@dataclasses.dataclass(frozen=True)
class RequestResult:
    """A request of a mix, or a route and method of a journey. The fields are the same as in the result."""

    name: Annotated[str, about("The request's name.")]
    planned: Annotated[Count, about("Requests in the schedule.")]
    sent: Annotated[Count, about("Requests that were sent.")]
    completed: Annotated[Count, about("Requests that were answered.")]
    ok: Annotated[Count, about("Requests that were answered as expected.")]
    unfinished: Annotated[Count, about("Requests that neither ended nor failed.")]
    errors: Annotated[dict[ErrorKind, Count], about("Failed requests by kind.")]
    response_time_ms: Annotated[Figures, about("Answered minus intended send.")]


@dataclasses.dataclass(frozen=True)
class Journeys:
    """The journeys that ended during the measured load."""

    users: Annotated[Ordinal | None, about("The number of users in a closed loop, or null with arrivals.")]
    arrivals: Annotated[Positive | None, about("The number of new users per second, or null in a closed loop.")]
    completed: Annotated[Count, about("Journeys that were completed.")]
    broken_off: Annotated[Count, about("Journeys that a failure ended.")]
    under_way_first: Annotated[Count, about("Running journeys at the start.")]
    under_way_last: Annotated[Count, about("Running journeys at the end.")]
    duration_ms: Annotated[Figures, about("Duration of completed journeys, from their intended start.")]
    methods: Annotated[tuple[RequestResult, ...], about("A row for GET and one for POST.")]
    think_ms: Annotated[Amount | None, about("Mean think time for each request.")]
    wait_ms: Annotated[Amount | None, about("Mean time that users waited for each request.")]
    ended_per_s: Annotated[Amount | None, about("Requests that ended per second.")]
    expected_per_s: Annotated[
        Amount | None, about("Requests per second by the arithmetic of a closed loop; null for arrivals.")
    ]

    def method(self, name: str) -> RequestResult | None:
        """Return the results of the requests with a method, or None if there were no such requests."""
        return next((one for one in self.methods if one.name == name), None)

    @property
    def disagreement(self) -> float | None:
        """The relative error of the arithmetic of the closed loop, or None if it doesn't apply.

        A value above 0 means that the injectors were saturated: for some time, the users were neither thinking nor
        waiting.
        """
        if not self.expected_per_s or not self.ended_per_s:
            return None
        return self.expected_per_s / self.ended_per_s - 1


@dataclasses.dataclass(frozen=True)
class Result:
    """A measured load: planned = ok + errors + unfinished.

    Times are in milliseconds. They are for successful requests, except the lags, which are for all sent requests. None
    means that the value isn't known.
    """

    engine: Annotated[str, about("The engine's name.")]
    planned: Annotated[Count, about("The scheduled requests until an early stop. In a closed loop, the sent requests.")]
    sent: Annotated[Count, about("The requests that were sent.")]
    completed: Annotated[Count, about("The answered requests: ok, status, wrong-body, mixed-up and lost-session.")]
    ok: Annotated[Count, about("The requests that were answered with the expected status and body.")]
    unfinished: Annotated[Count, about("The requests without an answer or failure after the grace period.")]
    errors: Annotated[
        dict[ErrorKind, Count],
        about(
            "Failed requests by kind: status, wrong-body (not as expected), mixed-up (another user's, or not kept), "
            "lost-session (no longer logged in), timeout, refused, reset, other (see examples)."
        ),
    ]
    duration_s: Annotated[
        Amount,
        about(
            "From the start to the schedule's end or an early stop, without the grace period. A server's pauses, and "
            "the wait for the first answer after the end of a closed loop, make slices longer."
        ),
    ]
    rate: Annotated[
        Amount,
        about(
            "Successful requests within duration_s, per second of it from when the first could be answered; in a "
            "closed loop per second from answer to answer. Answers of the grace period do not count; those to "
            "requests sent while the server settled do."
        ),
    ]
    response_time_ms: Annotated[Figures, about("Answered minus intended send.")]
    service_time_ms: Annotated[Figures, about("From the actual send (first byte, or new connection) to the answer.")]
    send_lag_ms: Annotated[Figures, about("From the intended to the actual send, with the wait for a connection.")]
    pacing_lag_ms: Annotated[Figures, about("The generator's own scheduling delay.")]
    waited: Annotated[Count, about("The requests that waited for a connection.")]
    latency_of: Annotated[
        Annotated[str, Meta(pattern=r"^(response|service)_time\Z")],
        about("The best measure of a user's wait: response_time, or service_time if no intended send is known."),
    ]
    examples: Annotated[dict[str, str], about("The first error's text, by kind.")]
    timeline: Annotated[tuple[Second, ...], Meta(max_length=LONGEST_TIMELINE_S, description="A row a second.")]
    histograms: Annotated[
        dict[str, str],
        about(
            "HDR histograms of microseconds (compressed V2, base64): response_time, service_time, send_lag, failed "
            "(how long failed and unfinished requests had waited); lag, last, reading_lag of deliveries; away of "
            "connections; first_event, event_delay, view_ended of streams; get, post and journey."
        ),
    ]
    generator: Annotated[tuple[Generator, ...], about("The processes of the load generator.")]
    requests: Annotated[
        tuple[RequestResult, ...], about("A row for each request of a mix, or route and method of journeys.")
    ] = ()
    deliveries: Annotated[Deliveries | None, about("The results of WebSocket messages.")] = None
    billed: Annotated[
        Count | None,
        about(
            "The requests that the servers' CPU time is divided by: all that were answered ok while it was measured. "
            "None: ok."
        ),
    ] = None
    backlog: Annotated[
        tuple[int, ...], about("For each slice at a fixed rate, how many more requests were open when it ended.")
    ] = ()
    connections: Annotated[Connections | None, about("The results of WebSocket connections.")] = None
    journeys: Annotated[Journeys | None, about("The results of users' journeys.")] = None
    streams: Annotated[Streams | None, about("The results of streams of events.")] = None
    slow_streams: Annotated[Streams | None, about("The results of streams with slow clients.")] = None
    handshakes: Annotated[Handshakes | None, about("TLS handshakes; null without TLS.")] = None
    outage_ms: Annotated[
        Amount | None,
        about(
            "The longest time in which every request failed: from the intended send of a failed request to that of the "
            "next answered one. Null if it isn't known."
        ),
    ] = None
    answers_in_a_row: Annotated[
        Amount | None,
        about(
            "In a closed loop with a single request and four or more connections: the mean number of consecutive "
            "answers on the same connection. A fair server has about 1. Null for other loads."
        ),
    ] = None

    @property
    def latency_ms(self) -> Figures:
        return self.response_time_ms if self.latency_of == "response_time" else self.service_time_ms

    @property
    def failed(self) -> dict[str, int]:
        """The failed requests by kind, including unfinished requests."""
        unfinished = {"unfinished": self.unfinished} if self.unfinished else {}
        return {kind: count for kind, count in self.errors.items() if count} | unfinished

    @property
    def contradicting(self) -> int:
        """The number of answers that break the contract and of messages that reached the wrong connection."""
        return sum(self.errors.get(kind, 0) for kind in BROKEN) + self.stray

    @property
    def stray(self) -> int:
        return (self.deliveries.stray or 0) if self.deliveries else 0

    @property
    def deliveries_due(self) -> float:
        """The expected deliveries, including deliveries of messages that were planned but never sent."""
        expected = self.deliveries.expected if self.deliveries else 0
        return expected * (self.planned / self.sent) if self.sent else float(expected)

    def summary(self) -> dict[str, Any]:
        """Return the object that ``load --json`` prints."""
        values = dataclasses.asdict(self)
        return {name: values[name] for name in SUMMARY}


SUMMARY = (
    "engine", "planned", "sent", "completed", "ok", "unfinished", "errors", "duration_s", "rate",
    "response_time_ms", "service_time_ms", "send_lag_ms", "examples", "requests", "deliveries",
    "connections", "handshakes",
)  # fmt: skip
