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
BROKEN = ("wrong-body", "mixed-up")  # The kinds of answers that differ from the contract.
LONGEST_TIMELINE_S = 100_000  # The maximum number of seconds, which is more than a day.

NOTHING: Figures = dict.fromkeys(FIGURES)


@dataclasses.dataclass(frozen=True)
class Second:
    """One second of a load. None means that the value isn't known, as in older runs."""

    t: Annotated[Amount, about("The start of this second, in seconds after the start of the load.")]
    sent: Annotated[Count, about("The requests that were sent in this second.")]
    completed: Annotated[Count, about("The requests that were answered in this second.")]
    ok: Annotated[Count, about("The requests that were answered as expected in this second.")]
    errors: Annotated[Count, about("The requests that failed in this second.")]
    p50_ms: Annotated[Number | None, about("The median time (see latency_of) of successful requests.")]
    p99_ms: Annotated[Number | None, about("The 99th percentile of the time (see latency_of) of successful requests.")]
    p95_ms: Annotated[Number | None, about("The 95th percentile of the time of successful requests.")] = None
    ends: Annotated[
        dict[Ending, Count] | None,
        about("Requests by outcome: a status, stale (X-Stale), the kind of an error, or ok if there are no statuses."),
    ] = None


@dataclasses.dataclass(frozen=True)
class Generator:
    """The resources that a process of the load generator used.

    None means that the value isn't known, as in older runs.
    """

    cpu_s: Annotated[Amount, about("The CPU seconds, including the grace period.")]
    wall_s: Annotated[Amount, about("The seconds in which the process sent requests.")]
    peak_rss_mb: Annotated[Amount, about("Peak memory, in MB.")]
    p50_ms: Annotated[Number | None, about("The median response time in the process's part of the load.")] = None
    ok: Annotated[Count | None, about("Successful requests in the process's part of the load.")] = None
    planned: Annotated[Count | None, about("Planned requests in the process's part of the load.")] = None
    machine: Annotated[str, about("The client that ran the process, or empty for the harness's machine.")] = ""
    other_load: Annotated[Amount | None, about("The share of the client's core that other programs used.")] = None
    swapped_pages: Annotated[Count | None, about("The pages that the client swapped in and out.")] = None
    mhz: Annotated[Amount | None, about("The mean frequency of the client's core, in MHz.")] = None


@dataclasses.dataclass(frozen=True)
class Handshakes:
    """The TLS handshakes of connections that were opened for measured requests."""

    full: Annotated[Count, about("Full handshakes.")]
    resumed: Annotated[Count, about("Handshakes that resumed a session of an earlier connection.")]


@dataclasses.dataclass(frozen=True)
class RequestResult:
    """The results of one request in a mix, or of one route and method in journeys. See ``Result`` for the fields."""

    name: Annotated[str, about("The request's name.")]
    planned: Annotated[Count, about("Requests in the schedule.")]
    sent: Annotated[Count, about("Requests that were sent.")]
    completed: Annotated[Count, about("Requests that were answered.")]
    ok: Annotated[Count, about("Requests that were answered as expected.")]
    unfinished: Annotated[Count, about("Requests that neither ended nor failed.")]
    errors: Annotated[dict[ErrorKind, Count], about("Failed requests by kind.")]
    response_time_ms: Annotated[Figures, about("The time from the intended send to the answer.")]


@dataclasses.dataclass(frozen=True)
class Journeys:
    """The journeys that ended during the measured load."""

    users: Annotated[Ordinal | None, about("The number of users in a closed loop, or null with arrivals.")]
    arrivals: Annotated[Positive | None, about("The number of new users per second, or null in a closed loop.")]
    completed: Annotated[Count, about("Journeys that were completed.")]
    broken_off: Annotated[Count, about("Journeys that ended early because of a failure.")]
    under_way_first: Annotated[Count, about("Journeys that were running at the start of the load.")]
    under_way_last: Annotated[Count, about("Journeys that were running at the end of the load.")]
    duration_ms: Annotated[Figures, about("The durations of completed journeys, from their intended start.")]
    methods: Annotated[tuple[RequestResult, ...], about("A row for GET requests and a row for POST requests.")]
    think_ms: Annotated[Amount | None, about("The mean think time per request.")]
    wait_ms: Annotated[Amount | None, about("The mean time that users waited for a request.")]
    ended_per_s: Annotated[Amount | None, about("The number of requests that ended per second.")]
    expected_per_s: Annotated[Amount | None, about("The rate that Little's law predicts in a closed loop, or null.")]

    def method(self, name: str) -> RequestResult | None:
        """Return the results of the requests with a method, or None if there were no such requests."""
        return next((one for one in self.methods if one.name == name), None)

    @property
    def disagreement(self) -> float | None:
        """The relative difference between the rate that Little's law predicts and the measured rate, or None.

        A value above 0 means that the injectors were saturated: for some time, the users were neither thinking nor
        waiting.
        """
        if not self.expected_per_s or not self.ended_per_s:
            return None
        return self.expected_per_s / self.ended_per_s - 1


@dataclasses.dataclass(frozen=True)
class Result:
    """The results of a measured load: planned = ok + errors + unfinished.

    Times are in milliseconds. They include only successful requests, except the lags, which include all sent requests.
    None means that the value isn't known.
    """

    engine: Annotated[str, about("The engine's name.")]
    planned: Annotated[Count, about("Requests that were scheduled before the end. In a closed loop, sent requests.")]
    sent: Annotated[Count, about("The requests that were sent.")]
    completed: Annotated[Count, about("The answered requests: ok, status, wrong-body, mixed-up and lost-session.")]
    ok: Annotated[Count, about("The requests that were answered with the expected status and body.")]
    unfinished: Annotated[Count, about("The requests that had neither an answer nor a failure after the grace period.")]
    errors: Annotated[
        dict[ErrorKind, Count],
        about("Failed requests by kind. mixed-up: without the user's own inputs. lost-session: no longer logged in."),
    ]
    duration_s: Annotated[
        Amount, about("The measured seconds, without the grace period. Pauses of the server make slices longer.")
    ]
    rate: Annotated[
        Amount,
        about(
            "Successful requests per second within duration_s, from the time when the first request could be "
            "answered, or from answer to answer in a closed loop. Answers in the grace period don't count."
        ),
    ]
    response_time_ms: Annotated[Figures, about("The time from the intended send to the answer.")]
    service_time_ms: Annotated[Figures, about("Time from the actual send (first byte, new connection) to the answer.")]
    send_lag_ms: Annotated[Figures, about("Time from the intended to the actual send, with the wait for a connection.")]
    pacing_lag_ms: Annotated[Figures, about("The generator's own scheduling delay.")]
    waited: Annotated[Count, about("The requests that waited for a connection.")]
    latency_of: Annotated[
        Annotated[str, Meta(pattern=r"^(response|service)_time\Z")],
        about("The best measure of a user's wait: service_time only if the intended send times aren't known."),
    ]
    examples: Annotated[dict[str, str], about("The message of the first error of each kind.")]
    timeline: Annotated[tuple[Second, ...], Meta(max_length=LONGEST_TIMELINE_S, description="A row for each second.")]
    histograms: Annotated[
        dict[str, str],
        about(
            "HDR histograms of microseconds (compressed V2, base64). Requests: response_time, service_time, send_lag, "
            "failed (the waits of failed and unfinished requests). Deliveries: lag, last, reading_lag. Connections: "
            "away. Streams: first_event, event_delay, view_ended. Journeys: get, post, journey."
        ),
    ]
    generator: Annotated[tuple[Generator, ...], about("The processes of the load generator.")]
    requests: Annotated[tuple[RequestResult, ...], about("A row for each request of a mix, or each route.")] = ()
    deliveries: Annotated[Deliveries | None, about("The results of WebSocket messages.")] = None
    billed: Annotated[
        Count | None,
        about("Successful answers while the servers' CPU time was measured. Null means the same number as ok."),
    ] = None
    backlog: Annotated[tuple[int, ...], about("The growth of open requests in each slice at a fixed rate.")] = ()
    connections: Annotated[Connections | None, about("The results of WebSocket connections.")] = None
    journeys: Annotated[Journeys | None, about("The results of users' journeys.")] = None
    streams: Annotated[Streams | None, about("The results of streams of events.")] = None
    slow_streams: Annotated[Streams | None, about("The results of streams with slow clients.")] = None
    handshakes: Annotated[Handshakes | None, about("The TLS handshakes, or null without TLS.")] = None
    outage_ms: Annotated[
        Amount | None, about("The longest time in which every request failed, by intended sends. Null if unknown.")
    ] = None
    answers_in_a_row: Annotated[
        Amount | None,
        about("In a closed loop, the mean number of consecutive answers on a connection: about 1 for a fair server."),
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
        """The number of answers that break the contract, plus the number of messages on wrong connections."""
        return sum(self.errors.get(kind, 0) for kind in BROKEN) + self.stray

    @property
    def stray(self) -> int:
        return (self.deliveries.stray or 0) if self.deliveries else 0

    @property
    def deliveries_due(self) -> float:
        """The number of expected deliveries, including deliveries of messages that were planned but never sent."""
        expected = self.deliveries.expected if self.deliveries else 0
        return expected * (self.planned / self.sent) if self.sent else float(expected)

    def summary(self) -> dict[str, Any]:
        """Return the object that ``load --json`` prints: all fields except the timeline and the histograms."""
        return {
            name: value for name, value in dataclasses.asdict(self).items() if name not in ("timeline", "histograms")
        }
