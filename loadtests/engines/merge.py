"""Combine the measurements of several processes into one result with one timeline."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loadtests.engines.base import OnSecond
from loadtests.formatting import plural
from loadtests.records import (
    Connections,
    Deliveries,
    Generator,
    Handshakes,
    Journeys,
    LeftClients,
    RequestResult,
    Result,
    Second,
    Streams,
)
from loadtests.records.heat import heat
from loadtests.records.histogram import Histogram
from loadtests.records.result import ERROR_KINDS, FIGURES, NOTHING, PERCENTILES, Figures
from loadtests.workload import Request, Users

Part = Mapping[str, Any]
"""The measurements of one process."""
Spreads = dict[str, "Spread"]

COUNTS = ("planned", "sent", "completed", "ok")
KEPT = ("response_time", "service_time", "send_lag", "failed")  # the histograms that the result contains
DELIVERY_COUNTS = (
    "expected", "delivered", "missing", "duplicate", "reordered", "in_time", "messages", "whole"
)  # fmt: skip
DELIVERY_TIMES = {"lag": "lag", "last": "last", "reading_lag": "reading"}  # the values are the generator's keys
STREAM_COUNTS = ("begun", "whole", "broken", "unanswered", "cut", "answered", "events", "in_time", "missing", "most")
CONNECTION_COUNTS = ("requested", "opened", "refused", "lost", "sent_bytes", "received_bytes")
JOURNEY_COUNTS = ("completed", "broken_off", "under_way_first", "under_way_last")
METHODS = ("GET", "POST")


class Timeline:
    """Combine the timelines of several processes and slices."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.parts: defaultdict[int, list[Part]] = defaultdict(list)
        self.reported: Counter[int] = Counter()  # the number of reported parts of each second

    def add(self, second: Part, on_second: OnSecond | None) -> None:
        """Add one process's measurements of a second. Report the second when all processes have sent measurements."""
        t = second["t"]
        self.parts[t].append(second)
        if len(self.parts[t]) - self.reported[t] == self.processes:
            self._report(t, on_second)

    def over(self, on_second: OnSecond | None) -> None:
        """At the end of a slice, report the last seconds, even if some processes have sent no measurements."""
        for t, parts in sorted(self.parts.items()):
            if len(parts) > self.reported[t]:
                self._report(t, on_second)

    def _report(self, t: int, on_second: OnSecond | None) -> None:
        if on_second is not None:
            on_second(_row(t, self.parts[t][self.reported[t] :]))
        self.reported[t] = len(self.parts[t])

    def rows(self) -> tuple[Second, ...]:
        """Return all seconds of the timeline."""
        return tuple(_row(t, parts) for t, parts in sorted(self.parts.items()))


def _row(t: int, parts: Sequence[Part]) -> Second:
    times = functools.reduce(Histogram.__add__, (Histogram.decode(part["hdr"]) for part in parts))
    p50, p95, p99 = (
        None if (value := times.percentile(percent)) is None else value / 1000 for percent in (50.0, 95.0, 99.0)
    )
    ends = sum((Counter(part["ends"]) for part in parts), Counter[str]())
    return Second(
        t=t,
        **sums(parts, ("sent", "completed", "ok", "errors")),
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        heat=heat(times),
        ends=dict(sorted(ends.items())),
    )


def merge(
    engine: str,
    parts: Sequence[Part],
    timeline: Sequence[Second],
    requests: Sequence[Request] = (),
    users: Users | None = None,
) -> Result:
    """Combine the results of several processes into one result.

    A part contains the fields of ``Measured`` in generator/types.ts or, for users, the fields of ``Recorder.measured``
    in loadtests/journeys/injector/recorder.py.
    """
    spreads = {name: Spread.merged(part["spreads"][name] for part in parts) for name in parts[0]["spreads"]}
    duration_s = max(part["duration_s"] for part in parts)
    deliveries, delivery_times = merged_deliveries(parts)
    streams, stream_times = merged_streams(parts, 0)
    slow_streams, _ = merged_streams(parts, 1)
    journeys, journey_times = _merged_journeys(parts, users, duration_s) if users else (None, {})
    mix = {one.name: [part["requests"][index] for part in parts] for index, one in enumerate(requests)}
    if len(mix) == 1:  # the whole result describes this request
        mix = {}
    handshakes = [part["handshakes"] for part in parts if part["handshakes"] is not None]
    examples: dict[str, str] = {}
    for part in parts:
        examples = {**part["examples"], **examples}
    if deliveries is not None and deliveries.stray:
        astray = plural(deliveries.stray, "message")
        examples.setdefault("wrong-body", f"{astray} reached the wrong connections")
    kept = {name: spreads[name] for name in KEPT} | delivery_times | stream_times | journey_times
    return Result(
        engine=engine,
        **sums(parts, (*COUNTS, "billed", "unfinished", "waited")),
        errors=_errors(parts),
        outage_ms=_outage_ms(parts),
        answers_in_a_row=_answers_in_a_row(parts),
        duration_s=duration_s,
        rate=math.fsum(part["rate"] for part in parts),
        response_time_ms=spreads["response_time"].figures(),
        service_time_ms=spreads["service_time"].figures(),
        send_lag_ms=spreads["send_lag"].figures(),
        pacing_lag_ms=spreads["pacing_lag"].figures(),
        backlog=_by_slice(parts, "backlog"),
        latency_of="response_time",
        examples=examples,
        timeline=tuple(timeline),
        histograms={name: spread.histogram.encode() for name, spread in kept.items()},
        generator=tuple(_generator(part) for part in parts),
        requests=_shares(_routes(parts, "{method} {route}") if users else mix),
        deliveries=deliveries,
        connections=merged_connections(parts),
        journeys=journeys,
        streams=streams,
        slow_streams=slow_streams,
        handshakes=Handshakes(**sums(handshakes, ("full", "resumed"))) if handshakes else None,
    )


def sums(parts: Sequence[Part], names: Iterable[str]) -> dict[str, Any]:
    """Return the sum of each named field over all parts."""
    return {name: sum(part[name] for part in parts) for name in names}


def _errors(parts: Sequence[Part]) -> dict[str, int]:
    errors = sum((Counter(part["errors"]) for part in parts), Counter[str]())
    return {kind: errors[kind] for kind in ERROR_KINDS if errors[kind]}


def _outage_ms(parts: Sequence[Part]) -> float | None:
    """Return the longest outage, or None for several processes, because each process sees only its own requests."""
    return parts[0].get("outage_ms") if len(parts) == 1 else None


def _answers_in_a_row(parts: Sequence[Part]) -> float | None:
    """Return the processes' highest mean number of consecutive answers on a connection, or None if it isn't known."""
    return max((found for part in parts if (found := part.get("answers_in_a_row")) is not None), default=None)


def _by_slice(parts: Sequence[Part], name: str) -> tuple[int, ...]:
    """Add up the processes' values of a field that contains a number for each slice or step."""
    return tuple(map(sum, zip(*(part[name] for part in parts), strict=False)))


def _generator(part: Part) -> Generator:
    """Return the resources that a process used, and the process's own figures of the load."""
    p50_ms = Spread.merged([part["spreads"]["response_time"]]).figures()["p50"]
    own = {"p50_ms": p50_ms, "ok": part["ok"], "planned": part["planned"], "machine": part["machine"]}
    conditions = part.get("conditions", {})
    machine = {name: conditions[name] for name in ("other_load", "swapped_pages", "mhz") if name in conditions}
    return Generator(**part["generator"], **own, **machine)


def _routes(parts: Sequence[Part], name: str) -> dict[str, list[Part]]:
    """Group the routes of users' journeys.

    The argument ``name`` is the format of a group's name, such as ``{method}`` or ``{method} {route}``.
    """
    groups: dict[str, list[Part]] = {}
    for route in itertools.chain.from_iterable(part["routes"] for part in parts):
        groups.setdefault(name.format_map(route), []).append(route)
    return groups


def _shares(groups: Mapping[str, Sequence[Part]]) -> tuple[RequestResult, ...]:
    return tuple(_of_request(name, shares) for name, shares in groups.items())


def _of_request(name: str, shares: Sequence[Part]) -> RequestResult:
    """Combine the figures of one request in a mix (``Share`` in generator/types.ts)."""
    counts = sums(shares, COUNTS)
    errors = _errors(shares)
    return RequestResult(
        name=name,
        **counts,
        unfinished=counts["planned"] - counts["ok"] - sum(errors.values()),
        errors=errors,
        response_time_ms=Spread.merged(share["response_time"] for share in shares).figures(),
    )


def _merged_journeys(parts: Sequence[Part], users: Users, duration_s: float) -> tuple[Journeys, Spreads]:
    """Return the combined figures of users' journeys, and the distributions of times by histogram name."""
    shares = [part["journeys"] for part in parts]
    by_method = _routes(parts, "{method}")
    methods = {method: by_method[method] for method in METHODS if method in by_method}
    times = {name.lower(): Spread.merged(one["response_time"] for one in own) for name, own in methods.items()}
    durations = Spread.merged(share["duration"] for share in shares)
    journeys = Journeys(
        users=users.users,
        arrivals=users.arrivals,
        **sums(shares, JOURNEY_COUNTS),
        duration_ms=durations.figures(),
        methods=_shares(methods),
        **_littles_law(users, duration_s, shares),
    )
    return journeys, {**times, "journey": durations}


def _littles_law(users: Users, duration_s: float, shares: Sequence[Part]) -> dict[str, Any]:
    """Return the think time and wait time per request, and the request rate that follows from these times."""
    ended, thought_s, waited_s = sums(shares, ("ended_requests", "thought_s", "waited_s")).values()
    if not ended or not duration_s:
        return dict.fromkeys(("think_ms", "wait_ms", "ended_per_s", "expected_per_s"))
    by_request_s = (thought_s + waited_s) / ended
    return {
        "think_ms": thought_s * 1000 / ended,
        "wait_ms": waited_s * 1000 / ended,
        "ended_per_s": ended / duration_s,
        "expected_per_s": users.users / by_request_s if users.users and by_request_s else None,
    }


def merged_deliveries(parts: Sequence[Part]) -> tuple[Deliveries | None, Spreads]:
    """Return the combined deliveries (None without receivers), and the distributions of times by histogram name."""
    found = [part["deliveries"] for part in parts if part["deliveries"] is not None]
    if not found:
        return None, {}
    times = {name: Spread.merged(part[key] for part in found) for name, key in DELIVERY_TIMES.items()}
    strays = [part["stray"] for part in found]
    counts = sums(found, DELIVERY_COUNTS)
    if found[0]["of_messages"] is not None:
        counts["messages"], counts["whole"], times["last"] = _of_shared_rooms(found)
    deliveries = Deliveries(
        **counts,
        stray=None if None in strays else sum(strays),
        lag_ms=times["lag"].figures(),
        last_ms=times["last"].figures(),
        reading_lag_ms=times["reading_lag"].figures(),
        backlog=_by_slice(found, "backlog"),
    )
    return deliveries, times


def _of_shared_rooms(parts: Sequence[Part]) -> tuple[int, int, Spread]:
    """Combine the figures of messages whose receivers are in several processes.

    Returns:
        The number of sent messages, the number of messages that reached all receivers, and the times until a message
        reached its last receiver.
    """
    last_us: dict[tuple[int, int], float] = {}
    for stream, number, us in itertools.chain.from_iterable(part["of_messages"] for part in parts):
        message = stream, number
        last_us[message] = max(last_us.get(message, 0), math.inf if us is None else us)
    whole = [int(us) for us in last_us.values() if us < math.inf]
    histogram = Histogram.empty()
    for us in whole:
        histogram.record(us)
    return len(last_us), len(whole), Spread(histogram, max(whole, default=0), sum(whole))


def merged_connections(parts: Sequence[Part]) -> Connections | None:
    """Combine the connections that stay open for the whole load. Return None if the load has no such connections."""
    found = [part["connections"] for part in parts if part["connections"] is not None]
    if not found:
        return None
    return Connections(
        **sums(found, CONNECTION_COUNTS),
        opening_ms=Spread.merged(part["opening"] for part in found).figures(),
        opened_in_s=max(part["opened_in_s"] for part in found),  # all processes started at the same time
        steps=_by_slice(found, "steps"),
        reason=next((part["reason"] for part in found if part["reason"]), ""),
    )


def merged_streams(parts: Sequence[Part], place: int) -> tuple[Streams | None, Spreads]:
    """Combine the figures of the event streams at an index of ``Load.all_streams``.

    Returns:
        The figures (None if there are no such streams), and the distributions of times by histogram name.
    """
    found = [part["streams"][place] for part in parts if len(part["streams"]) > place]
    if not found:
        return None, {}
    first, delay, reading = (Spread.merged(part[name] for part in found) for name in ("first", "delay", "reading"))
    left, left_times = _left([part["left"] for part in found if part["left"]])
    streams = Streams(
        **sums(found, STREAM_COUNTS),
        first_ms=first.figures(),
        delay_ms=delay.figures(),
        reading_lag_ms=reading.figures(),
        reason=next((part["reason"] for part in found if part["reason"]), ""),
        left=left,
    )
    return streams, {"first_event": first, "event_delay": delay, **left_times}


def _left(parts: Sequence[Part]) -> tuple[LeftClients | None, Spreads]:
    """Combine the figures of clients that left before the end of their streams."""
    if not parts:
        return None, {}
    after = Spread.merged(part["after"] for part in parts)
    return LeftClients(**sums(parts, ("clients", "ended", "running", "late")), after_ms=after.figures()), {
        "view_ended": after
    }


@dataclasses.dataclass(frozen=True)
class Spread:
    """A distribution of times in microseconds, with its exact maximum and sum."""

    histogram: Histogram
    max_us: int
    sum_us: int

    @classmethod
    def merged(cls, parts: Iterable[Part]) -> Spread:
        """Combine several distributions in the generator's format."""
        parts = list(parts)
        return cls(
            functools.reduce(Histogram.__add__, (Histogram.decode(part["hdr"]) for part in parts)),
            max(part["max_us"] for part in parts),
            sum(part["sum_us"] for part in parts),
        )

    def figures(self) -> Figures:
        """Return the percentiles, the maximum and the mean in milliseconds."""
        count = self.histogram.total
        if not count:
            return dict(NOTHING)
        figures: Figures = {"max": self.max_us / 1000, "mean": self.sum_us / count / 1000}
        for name, percent in PERCENTILES.items():
            figures[name] = min(self.histogram.percentile(percent) or 0, self.max_us) / 1000
        return {name: figures[name] for name in FIGURES}
