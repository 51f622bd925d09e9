"""Combine the measurements of several processes into one result with one timeline."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

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
from loadtests.records.histogram import Histogram
from loadtests.records.result import ERROR_KINDS, FIGURES, NOTHING, PERCENTILES, Figures
from loadtests.workload import Request, Users

Part = Mapping[str, Any]
"""The measurements of one process."""
Spreads = dict[str, "Spread"]
R = TypeVar("R")

COUNTS = ("planned", "sent", "completed", "ok", "billed", "unfinished", "waited", "rate", "backlog")
KEPT = ("response_time", "service_time", "send_lag", "failed")  # the histograms that the result contains
APART = ("routes", "generator", "conditions")  # differ from process to process
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
    counts = combined({name: part[name] for name in ("sent", "completed", "ok", "errors", "ends")} for part in parts)
    counts["ends"] = dict(sorted(counts["ends"].items()))
    return Second(t=t, **counts, p50_ms=p50, p95_ms=p95, p99_ms=p99)


def merge(
    engine: str,
    parts: Sequence[Part],
    timeline: Sequence[Second],
    requests: Sequence[Request] = (),
    users: Users | None = None,
) -> Result:
    """Combine the results of several processes into one result.

    A part contains the result of ``Recorder.measured`` in generator/recorder.js or, for users, in
    loadtests/journeys/injector/recorder.py.
    """
    parts = [_with_totals(part) for part in parts]
    whole = combined(parts)
    spreads: Spreads = whole["spreads"]
    duration_s = max(part["duration_s"] for part in parts)
    kept = {name: spreads[name] for name in KEPT}
    shares = dict(zip((one.name for one in requests), whole.get("requests", ()), strict=False))
    if len(shares) == 1:  # the whole result describes this request
        shares = {}
    journeys = None
    if users:
        journeys = _journeys(whole["journeys"], parts, users, duration_s, kept)
        shares = _routes(parts, "{method} {route}")
    deliveries = _deliveries(whole["deliveries"], parts, kept) if whole.get("deliveries") else None
    examples: dict[str, str] = whole["examples"]
    if deliveries is not None and deliveries.stray:
        astray = plural(deliveries.stray, "message")
        examples.setdefault("wrong-body", f"{astray} reached the wrong connections")
    connections = None
    if whole.get("connections"):
        # All processes started to open their connections at the same time.
        opened_in_s = max(part["connections"]["opened_in_s"] for part in parts if part["connections"])
        connections = _record(Connections, whole["connections"], opened_in_s=opened_in_s)
    streams = whole.get("streams", ())
    for one in streams[:1]:
        kept |= {"first_event": one["first"], "event_delay": one["delay"]}
        kept |= {"view_ended": one["left"]["after"]} if one["left"] else {}
    return Result(
        engine=engine,
        **{name: whole[name] for name in COUNTS},
        errors=_errors(whole),
        # Each process sees only its own requests, so the outage is known only for a single process.
        outage_ms=whole.get("outage_ms") if len(parts) == 1 else None,
        answers_in_a_row=max(part.get("answers_in_a_row") or 0 for part in parts) or None,
        duration_s=duration_s,
        response_time_ms=spreads["response_time"].figures(),
        service_time_ms=spreads["service_time"].figures(),
        send_lag_ms=spreads["send_lag"].figures(),
        pacing_lag_ms=spreads["pacing_lag"].figures(),
        latency_of="response_time",
        examples=examples,
        timeline=tuple(timeline),
        histograms={name: spread.histogram.encode() for name, spread in kept.items()},
        generator=tuple(_generator(part) for part in parts),
        requests=_shares(shares),
        deliveries=deliveries,
        connections=connections,
        journeys=journeys,
        streams=_streams(streams[0]) if streams else None,
        slow_streams=_streams(streams[1]) if len(streams) > 1 else None,
        handshakes=Handshakes(**whole["handshakes"]) if whole.get("handshakes") else None,
    )


def combined(values: Iterable[Any]) -> Any:
    """Combine the measurements of several processes, or of several requests of a process.

    Counts are added, and distributions are merged. Lists, such as the counts of slices, are combined item by item. The
    first text that isn't empty is used. None means that a process lacks the measurement.
    """
    found: list[Any] = [one for one in values if one is not None]
    if found and isinstance(found[0], dict) and "hdr" in found[0]:
        found = [Spread.of(one) for one in found]
    if not found or isinstance(found[0], str):
        return next(filter(None, found), "" if found else None)
    if isinstance(found[0], list):
        return tuple(combined(several) for several in zip(*found, strict=False))
    if isinstance(found[0], Spread):
        return functools.reduce(Spread.__add__, found)
    if not isinstance(found[0], dict):
        return sum(found)
    names = dict.fromkeys(itertools.chain.from_iterable(found))
    return {name: combined(value.get(name) for value in found) for name in names if name not in APART}


def _with_totals(part: Part) -> dict[str, Any]:
    """Add the counts and the response times of all requests to the measurements of a process."""
    total = combined([*part["requests"], *(route["share"] for route in part.get("routes", ()))])
    unfinished = total["planned"] - total["ok"] - sum(total["errors"].values())
    spreads = {**part["spreads"], "response_time": total.pop("response_time")}
    return {**part, **total, "unfinished": unfinished, "spreads": spreads}


def _record(kind: type[R], measured: Part, **changes: Any) -> R:
    """Create a record with combined measurements. The figures of a distribution have the suffix ``_ms``."""
    figures = {f"{name}_ms": value.figures() for name, value in measured.items() if isinstance(value, Spread)}
    counts = {name: value for name, value in measured.items() if not isinstance(value, Spread)}
    return kind(**{**figures, **counts, **changes})


def _errors(measured: Part) -> dict[str, int]:
    return {kind: measured["errors"][kind] for kind in ERROR_KINDS if measured["errors"].get(kind)}


def _generator(part: Part) -> Generator:
    """Return the resources that a process used, and the process's own figures of the load."""
    p50_ms = part["spreads"]["response_time"].figures()["p50"]
    own = {"p50_ms": p50_ms, "ok": part["ok"], "planned": part["planned"], "machine": part["machine"]}
    conditions = part.get("conditions", {})
    machine = {name: conditions[name] for name in ("other_load", "swapped_pages", "mhz") if name in conditions}
    return Generator(**part["generator"], **own, **machine)


def _routes(parts: Sequence[Part], name: str) -> dict[str, Part]:
    """Combine the routes of users' journeys by group.

    The argument ``name`` is the format of a group's name, such as ``{method}`` or ``{method} {route}``.
    """
    groups: defaultdict[str, list[Part]] = defaultdict(list)
    for route in itertools.chain.from_iterable(part["routes"] for part in parts):
        groups[name.format_map(route)].append(route["share"])
    return {name: combined(shares) for name, shares in groups.items()}


def _shares(shares: Mapping[str, Part]) -> tuple[RequestResult, ...]:
    """Return the records of the requests in a mix (``Share`` in generator/types.ts), by their names."""
    found = []
    for name, share in shares.items():
        errors = _errors(share)
        unfinished = share["planned"] - share["ok"] - sum(errors.values())
        found.append(_record(RequestResult, share, name=name, errors=errors, unfinished=unfinished))
    return tuple(found)


def _journeys(
    measured: dict[str, Any], parts: Sequence[Part], users: Users, duration_s: float, kept: Spreads
) -> Journeys:
    """Return the record of users' journeys, and add the distributions of times to ``kept``."""
    by_method = _routes(parts, "{method}")
    methods = {method: by_method[method] for method in METHODS if method in by_method}
    kept |= {name.lower(): share["response_time"] for name, share in methods.items()}
    kept["journey"] = measured["duration"]
    ended, thought_s, waited_s = (measured.pop(name) for name in ("ended_requests", "thought_s", "waited_s"))
    law: dict[str, Any] = dict.fromkeys(("think_ms", "wait_ms", "ended_per_s", "expected_per_s"))
    if ended and duration_s:  # Little's law
        law |= {"think_ms": thought_s * 1000 / ended, "wait_ms": waited_s * 1000 / ended}
        law["ended_per_s"] = ended / duration_s
        if users.users and thought_s + waited_s:
            law["expected_per_s"] = users.users / ((thought_s + waited_s) / ended)
    return _record(Journeys, measured, users=users.users, arrivals=users.arrivals, methods=_shares(methods), **law)


def _deliveries(measured: dict[str, Any], parts: Sequence[Part], kept: Spreads) -> Deliveries:
    """Return the record of deliveries, and add the distributions of times to ``kept``."""
    found = [part["deliveries"] for part in parts if part["deliveries"] is not None]
    measured["reading_lag"] = measured.pop("reading")
    if any(one["stray"] is None for one in found):
        measured["stray"] = None
    kept |= {name: measured[name] for name in ("lag", "last", "reading_lag")}
    return _record(Deliveries, measured)


def _streams(measured: Part) -> Streams:
    """Return the record of event streams (``StreamCounts`` in generator/types.ts)."""
    figures = {"reading_lag" if name == "reading" else name: value for name, value in measured.items()}
    return _record(Streams, figures, left=_record(LeftClients, measured["left"]) if measured["left"] else None)


@dataclasses.dataclass(frozen=True)
class Spread:
    """A distribution of times in microseconds, with its exact maximum and sum."""

    histogram: Histogram
    max_us: int
    sum_us: int

    @classmethod
    def of(cls, part: Part) -> Spread:
        """Read a distribution in the generator's format."""
        return cls(Histogram.decode(part["hdr"]), part["max_us"], part["sum_us"])

    def __add__(self, other: Spread) -> Spread:
        largest = max(self.max_us, other.max_us)
        return Spread(self.histogram + other.histogram, largest, self.sum_us + other.sum_us)

    def figures(self) -> Figures:
        """Return the percentiles, the maximum and the mean in milliseconds."""
        count = self.histogram.total
        if not count:
            return dict(NOTHING)
        figures: Figures = {"max": self.max_us / 1000, "mean": self.sum_us / count / 1000}
        for name, percent in PERCENTILES.items():
            figures[name] = min(self.histogram.percentile(percent) or 0, self.max_us) / 1000
        return {name: figures[name] for name in FIGURES}
