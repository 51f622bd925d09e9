"""One result of what the processes of a load measured."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loadtests.records import Connections, Deliveries, Generator, OfRequest, Rejoined, Result, Second
from loadtests.records.histogram import Histogram
from loadtests.records.result import ERROR_KINDS, FIGURES, NOTHING, PERCENTILES, Figures
from loadtests.workload import Request

KEPT = ("response_time", "service_time", "send_lag", "failed")  # histograms that stay with the result
DELIVERY_COUNTS = (
    "expected", "delivered", "missing", "duplicate", "reordered", "stray", "in_time", "messages", "whole"
)  # fmt: skip
DELIVERY_TIMES = {"lag": "lag", "last": "last", "reading_lag": "reading"}  # as the generator calls them
CONNECTION_COUNTS = ("wanted", "opened", "refused", "lost", "sent_bytes", "received_bytes")


def merge(
    engine: str, parts: Sequence[Mapping[str, Any]], timeline: Sequence[Second], requests: Sequence[Request]
) -> Result:
    """One result of what the processes of a load measured (the generator's ``Measured``, see generator/job.js)."""
    total: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for part in parts:
        for name in ("planned", "sent", "completed", "ok", "billed", "unfinished", "waited"):
            total[name] += part[name]
        errors.update(part["errors"])
        examples = {**part["examples"], **examples}
    spreads = {name: Spread.merged([part["spreads"][name] for part in parts]) for name in parts[0]["spreads"]}
    kept = {name: spreads[name] for name in KEPT}
    duration_s = max(part["duration_s"] for part in parts)
    deliveries, of_deliveries = merged_deliveries(parts)
    connections, of_connections = merged_connections(parts)
    if deliveries is not None and deliveries.stray:
        examples.setdefault("wrong-body", f"{deliveries.stray:,} messages came to receivers of another room")
    return Result(
        engine=engine,
        planned=total["planned"],
        sent=total["sent"],
        completed=total["completed"],
        ok=total["ok"],
        unfinished=total["unfinished"],
        errors={kind: errors[kind] for kind in ERROR_KINDS if errors[kind]},
        duration_s=duration_s,
        rate=math.fsum(part["rate"] for part in parts),
        response_time_ms=spreads["response_time"].figures(),
        service_time_ms=spreads["service_time"].figures(),
        send_lag_ms=spreads["send_lag"].figures(),
        pacing_lag_ms=spreads["pacing_lag"].figures(),
        waited=total["waited"],
        billed=total["billed"],
        backlog=_of_slices(parts),
        latency_of="response_time",
        examples=examples,
        timeline=tuple(timeline),
        histograms={
            name: spread.histogram.encode() for name, spread in {**kept, **of_deliveries, **of_connections}.items()
        },
        generator=tuple(_generator(part) for part in parts),
        requests=tuple(
            of_request(request.name, [part["requests"][index] for part in parts])
            for index, request in enumerate(requests)
        )
        if len(requests) > 1
        else (),
        deliveries=deliveries,
        connections=connections,
    )


def _generator(part: Mapping[str, Any]) -> Generator:
    """What one process took, and what it saw by itself."""
    seen = Spread.merged([part["spreads"]["response_time"]]).figures()["p50"]
    own = {"p50_ms": seen, "ok": part["ok"], "planned": part["planned"], "machine": part["machine"]}
    machines = {name: part["seen"][name] for name in ("others_cpu", "swapped_pages", "mhz")} if "seen" in part else {}
    return Generator(**part["generator"], **own, **machines)


def of_request(name: str, shares: Sequence[Mapping[str, Any]]) -> OfRequest:
    """What became of one request of several, of what each process measured (``Share``, see generator/job.js)."""
    counts = {key: sum(share[key] for share in shares) for key in ("planned", "sent", "completed", "ok")}
    errors = sum((Counter(share["errors"]) for share in shares), Counter())
    return OfRequest(
        name=name,
        **counts,
        unfinished=counts["planned"] - counts["ok"] - errors.total(),
        errors={kind: errors[kind] for kind in ERROR_KINDS if errors[kind]},
        response_time_ms=Spread.merged([share["response_time"] for share in shares]).figures(),
    )


def merged_deliveries(parts: Sequence[Mapping[str, Any]]) -> tuple[Deliveries | None, dict[str, Spread]]:
    """What became of messages on their way to receivers, at all processes of a load, and the distributions of their
    times, by the names that histograms have; None and none where there are no receivers."""
    told = [part["deliveries"] for part in parts if part["deliveries"] is not None]
    if not told:
        return None, {}
    times = {name: Spread.merged([each[key] for each in told]) for name, key in DELIVERY_TIMES.items()}
    deliveries = Deliveries(
        **{name: sum(each[name] for each in told) for name in DELIVERY_COUNTS},
        lag_ms=times["lag"].figures(),
        last_ms=times["last"].figures(),
        reading_lag_ms=times["reading_lag"].figures(),
        backlog=_of_slices(told),
    )
    return deliveries, times


def _of_slices(parts: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """The backlog of each slice, of all processes together."""
    return tuple(map(sum, zip(*(part["backlog"] for part in parts), strict=False)))


def merged_connections(parts: Sequence[Mapping[str, Any]]) -> tuple[Connections | None, dict[str, Spread]]:
    """What became of the connections that all processes of a load were to hold open, and the distributions that
    histograms are kept of; None and none where they hold none."""
    told = [part["connections"] for part in parts if part["connections"] is not None]
    if not told:
        return None, {}
    rejoined, times = _rejoined(told[0]["rejoined"])
    connections = Connections(
        **{name: sum(each[name] for each in told) for name in CONNECTION_COUNTS},
        opening_ms=Spread.merged([each["opening"] for each in told]).figures(),
        opened_in_s=max(each["opened_in_s"] for each in told),  # all began at the same time
        steps=tuple(map(sum, zip(*(each["steps"] for each in told), strict=True))),
        said=next((each["said"] for each in told if each["said"]), ""),
        rejoined=rejoined,
    )
    return connections, times


def _rejoined(told: Mapping[str, Any] | None) -> tuple[Rejoined | None, dict[str, Spread]]:
    """What became of those that were to come back, which one process makes; None and none where nobody was."""
    if told is None:
        return None, {}
    away = Spread.merged([told["away"]])
    counts = {name: value for name, value in told.items() if name != "away"}
    return Rejoined(**counts, away_ms=away.figures()), {"away": away}


@dataclasses.dataclass(frozen=True)
class Spread:
    """A distribution of times in microseconds, with its exact maximum and sum."""

    histogram: Histogram
    max_us: int
    sum_us: int

    @classmethod
    def merged(cls, parts: Sequence[Mapping[str, Any]]) -> Spread:
        """One of several, as the generator writes them."""
        return cls(
            functools.reduce(Histogram.__add__, (Histogram.decode(part["hdr"]) for part in parts)),
            max(part["max_us"] for part in parts),
            sum(part["sum_us"] for part in parts),
        )

    def figures(self) -> Figures:
        """Its percentiles, maximum and mean, in milliseconds."""
        count = self.histogram.total
        if not count:
            return dict(NOTHING)
        figures: Figures = {"max": self.max_us / 1000, "mean": self.sum_us / count / 1000}
        for name, percent in PERCENTILES.items():
            figures[name] = min(self.histogram.percentile(percent) or 0, self.max_us) / 1000
        return {name: figures[name] for name in FIGURES}
