"""What an engine measured: one shape for all of them."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from msgspec import Meta

from loadtests.records.bounds import Amount, Count, Ending, ErrorKind, Number, Ordinal, Positive
from loadtests.records.generator import Generator

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}
FIGURES = (*PERCENTILES, "max", "mean")
ERROR_KINDS = ("status", "timeout", "refused", "reset", "wrong-body", "mixed-up", "lost-session", "other")
BROKEN = ("wrong-body", "mixed-up")  # answers that are not what the contract says

Figures = dict[str, Number | None]

NOTHING: Figures = dict.fromkeys(FIGURES)


@dataclasses.dataclass(frozen=True)
class Second:
    """One second of a load: ``t`` is when it began, in seconds after the start; the counts are of what happened in it.

    The percentiles, in ms, are of the times that ``Result.latency_of`` names, of those answered ok in it; None where
    none was. ``heat`` are the same times by steps (``loadtests.records.heat``): where a step begins, in ms, and how
    many are in it. ``ends`` says in a word how each request ended that did: the status of its answer, ``stale`` for one
    that says it is a copy of earlier (``X-Stale``), an error's kind, or ``ok`` where there are no statuses. None: not
    known, as of older runs.
    """

    t: Amount
    sent: Count
    completed: Count
    ok: Count
    errors: Count
    p50_ms: Number | None
    p99_ms: Number | None
    p95_ms: Number | None = None
    heat: tuple[tuple[Amount, Count], ...] = ()
    ends: dict[Ending, Count] | None = None


@dataclasses.dataclass(frozen=True)
class OfRequest:
    """What became of one of the requests of a mix, as Result says it of all."""

    name: str
    planned: Count
    sent: Count
    completed: Count
    ok: Count
    unfinished: Count
    errors: dict[ErrorKind, Count]
    response_time_ms: Figures


@dataclasses.dataclass(frozen=True)
class Deliveries:
    """What became of messages that were meant for one receiver or many: ``expected = delivered + missing``.

    Counted beside these: ``duplicate`` arrivals after the first, and those ``reordered``, which came after one that the
    same sender had sent later to the same receiver. ``lag_ms`` is arrival at each receiver minus intended send.

    ``stray`` came to a receiver of another room, for which they were not meant. ``in_time`` arrived within
    ``duration_s``, among them what was sent before, while the server settled; None: not counted. ``backlog``: for each
    slice, by how many at least those under way (missing, and not overtaken by a later one) became more while it was
    measured; below 0 where they wavered.

    ``messages`` are those that were published for receivers, ``whole`` those that all of their receivers have, and
    ``last_ms`` is from the intended send until the last receiver of a whole one has it. ``reading_lag_ms`` is how long
    what arrived may have lain in the generator since that last looked: no measured lateness, and not the most that its
    machine can be at fault for (generator/read_delay.js). None: not kept, as in older runs.
    """

    expected: Count
    delivered: Count
    missing: Count
    duplicate: Count
    reordered: Count
    lag_ms: Figures
    stray: Count = 0
    in_time: Count | None = None
    backlog: tuple[int, ...] = ()
    messages: Count | None = None
    whole: Count | None = None
    last_ms: Figures | None = None
    reading_lag_ms: Figures | None = None

    @property
    def timely(self) -> int:
        """Those in time; where that was not counted, all that came."""
        return self.delivered if self.in_time is None else self.in_time


@dataclasses.dataclass(frozen=True)
class Rejoined:
    """What became of receivers when the server was restarted under them.

    Of those that were there ``lost`` lost their connection, and ``back`` of these could receive again at the end.
    ``away_ms`` is from when one was lost until it was back for good; ``down_s`` from when the first was lost until the
    first was back, ``all_back_s`` until the last was, None where not all are. ``published`` messages were sent, each
    for every receiver (``expected``), of which ``missed`` never came; ``unsent`` were due while the publisher was away.
    """

    lost: Count
    back: Count
    away_ms: Figures
    down_s: Amount | None
    all_back_s: Amount | None
    published: Count
    unsent: Count
    expected: Count
    missed: Count


@dataclasses.dataclass(frozen=True)
class Connections:
    """What became of the connections that were to be held open for the whole of a load: ``wanted = opened + refused``.

    ``lost`` counts how often one was ended by the other side while it was held, wherever in the load; each was then
    opened again. ``opening_ms`` is from asking for one until it could receive, and ``opened_in_s`` from asking for the
    first until the last could. ``sent_bytes`` and ``received_bytes`` are those of all connections of the load in slices
    that were measured, also while it settled, as they are on the wire: handshakes, frames, what the dialect adds.
    ``said`` tells in words why the first one was refused or lost. ``steps`` is how many were open after each of the
    steps in which they were opened; it is empty in older runs. Where they are to come back after a restart ``rejoined``
    says what became of that, and ``lost`` counts those that did not.
    """

    wanted: Count
    opened: Count
    refused: Count
    lost: Count
    opening_ms: Figures
    opened_in_s: Amount
    sent_bytes: Count
    received_bytes: Count
    said: str = ""
    steps: tuple[Count, ...] = ()
    rejoined: Rejoined | None = None


@dataclasses.dataclass(frozen=True)
class Journeys:
    """What became of users' journeys while the load was held.

    ``users`` is how many walked again and again, ``arrivals`` how many new ones came a second; one of them is None.
    Counted are the journeys that ended in that time: ``completed``, or ``broken_off`` by a failure. ``under_way_first``
    and ``under_way_last`` are how many were at its begin and at its end. ``duration_ms`` is of the completed ones, from
    the moment in which each was to begin; ``methods`` has GET and POST apart, as Result has all.

    ``think_ms`` and ``wait_ms`` are how long users thought and waited for each request that ended; those that ended a
    second are ``ended_per_s``. In a closed loop this is arithmetic: ``expected_per_s`` is users by request, over think
    and wait. Where it is more than ``ended_per_s``, users did neither for a time: the injectors were late.
    """

    users: Ordinal | None
    arrivals: Positive | None
    completed: Count
    broken_off: Count
    under_way_first: Count
    under_way_last: Count
    duration_ms: Figures
    methods: tuple[OfRequest, ...]
    think_ms: Amount | None
    wait_ms: Amount | None
    ended_per_s: Amount | None
    expected_per_s: Amount | None

    def method(self, name: str) -> OfRequest | None:
        """What became of the requests of a method; None where there were none."""
        return next((one for one in self.methods if one.name == name), None)

    @property
    def disagreement(self) -> float | None:
        """By what share the arithmetic of the closed loop is off; None where there is none."""
        if not self.expected_per_s or not self.ended_per_s:
            return None
        return self.expected_per_s / self.ended_per_s - 1


@dataclasses.dataclass(frozen=True)
class Result:
    """One load, measured.

    Each planned request has exactly one end: ``planned = ok + sum(errors) + unfinished``. A load that only holds
    connections plans nothing; one whose messages go to many receivers has ``deliveries`` beside its sends, and one over
    WebSockets ``connections``.

    - ``planned``: in the schedule (of a run that was stopped early: until then); in a closed loop, the sent ones.
    - ``sent``: handed to a connection. ``planned - sent`` never were.
    - ``completed``: answered at all: ``completed = ok`` and the errors ``status``, ``wrong-body``, ``mixed-up`` and
      ``lost-session``.
    - ``ok``: answered with the expected status (and body, where one is expected).
    - ``errors``: by kind, only those that happened. ``status``, ``wrong-body``, ``mixed-up`` (what is somebody else's,
      or was not kept) and ``lost-session`` (nobody is signed in any more) were answered; ``timeout``: given up while
      the schedule ran; ``refused``, ``reset``: by the other side; ``other``: see ``examples``.
    - ``unfinished``: neither answered nor failed by the end of the grace period (or by the early stop).
    - ``duration_s``: from the start to the schedule's end, or to the early stop. The grace period is not in it.
    - ``rate``: requests answered ok within ``duration_s``, per second of it from when on the first could be there (one
      that takes a second is none of the first second's); in a closed loop per second from answer to answer. Answers of
      the grace period are in ``ok`` but not in ``rate``, those to requests sent before, while the server settled, in
      ``rate`` but not in ``ok``.

    Times are in milliseconds, each a dict of FIGURES, None where not known. They are of ok requests, except
    ``send_lag_ms`` and ``pacing_lag_ms`` (all sent ones) and the histogram ``failed`` (all that failed or are
    unfinished: how long they had waited since their intended send).

    - ``response_time_ms``: answered minus intended send.
    - ``service_time_ms``: answered minus actual send. That is when the first byte is written, or when the connection
      for it begins to be opened.
    - ``send_lag_ms``: actual minus intended send. It holds the generator's own lateness and, where all connections
      were busy, the wait for one; ``waited`` says how many requests had to. ``pacing_lag_ms`` is the generator's own
      lateness alone: how late it noticed that a request was due.

    ``billed`` are the requests that what the servers used is divided by: all that were answered ok while that was
    measured, with those sent before, while the server settled, of which nothing else is kept. None: ``ok``. Of journeys
    what is measured ends with the load, so what is answered in the grace period is not among them.

    ``backlog``: for each slice of a load at a fixed rate, how many more requests had no end yet when it ended than when
    its measured part began.

    ``histograms`` are HDR (compressed V2, base64) of microseconds: response_time, service_time, send_lag, failed, and
    lag, last and reading_lag where there are deliveries, away where connections come back; get, post and journey where
    users walk one. ``requests`` has a row for each request of a load of several, and for each route and method of a
    journey; it is empty for a load of one. ``latency_of`` is the best measure of what a user feels that the engine
    knows: ``response_time``, or ``service_time`` for an engine that knows no intended send.
    """

    engine: str
    planned: Count
    sent: Count
    completed: Count
    ok: Count
    unfinished: Count
    errors: dict[ErrorKind, Count]
    duration_s: Amount
    rate: Amount
    response_time_ms: Figures
    service_time_ms: Figures
    send_lag_ms: Figures
    pacing_lag_ms: Figures
    waited: Count
    latency_of: Annotated[str, Meta(pattern=r"^(response|service)_time\Z")]
    examples: dict[str, str]
    timeline: tuple[Second, ...]
    histograms: dict[str, str]
    generator: tuple[Generator, ...]
    requests: tuple[OfRequest, ...] = ()
    deliveries: Deliveries | None = None
    billed: Count | None = None
    backlog: tuple[int, ...] = ()
    connections: Connections | None = None
    journeys: Journeys | None = None

    @property
    def latency_ms(self) -> Figures:
        """The figures that ``latency_of`` names."""
        return self.response_time_ms if self.latency_of == "response_time" else self.service_time_ms

    @property
    def failed(self) -> dict[str, int]:
        """Failed requests by kind, those never answered among them."""
        unfinished = {"unfinished": self.unfinished} if self.unfinished else {}
        return {kind: count for kind, count in self.errors.items() if count} | unfinished

    @property
    def contradicting(self) -> int:
        """Answers that were not what the contract says, and messages that reached somebody whom they were not for."""
        stray = self.deliveries.stray if self.deliveries else 0
        return sum(self.errors.get(kind, 0) for kind in BROKEN) + stray

    @property
    def deliveries_due(self) -> float:
        """The deliveries that were expected, and as many for each message that was due and never sent; 0 where there
        are none."""
        expected = self.deliveries.expected if self.deliveries else 0
        return expected * (self.planned / self.sent) if self.sent else float(expected)

    def summary(self) -> dict[str, Any]:
        """The object that ``load --json`` prints."""
        values = dataclasses.asdict(self)
        return {name: values[name] for name in SUMMARY}


SUMMARY = (
    "engine", "planned", "sent", "completed", "ok", "unfinished", "errors", "duration_s", "rate",
    "response_time_ms", "service_time_ms", "send_lag_ms", "examples", "requests", "deliveries",
    "connections",
)  # fmt: skip
