"""What an engine measured: one shape for all of them."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loadtests.engines.histogram import Histogram
from loadtests.workload import Request

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}
FIGURES = (*PERCENTILES, "max", "mean")
ERROR_KINDS = ("status", "timeout", "refused", "reset", "wrong-body", "other")

Figures = dict[str, "float | None"]

NOTHING: Figures = dict.fromkeys(FIGURES)


@dataclasses.dataclass(frozen=True)
class Result:
    """One load, measured.

    Each planned request has exactly one end: ``planned = ok + sum(errors) + unfinished``.

    - ``planned``: in the schedule (of a run that was stopped early: until then); in a closed loop, the sent ones.
    - ``sent``: handed to a connection. ``planned - sent`` never were.
    - ``completed``: answered at all: ``completed = ok + errors["status"] + errors["wrong-body"]``.
    - ``ok``: answered with the expected status (and body, where one is expected).
    - ``errors``: by kind, only those that happened. ``status`` and ``wrong-body`` were answered; ``timeout``: given
      up while the schedule ran; ``refused``, ``reset``: by the other side; ``other``: see ``examples``.
    - ``unfinished``: neither answered nor failed by the end of the grace period (or by the early stop).
    - ``duration_s``: from the start to the schedule's end, or to the early stop. The grace period is not in it.
    - ``rate``: requests answered ok within ``duration_s``, per second of it. Answers of the grace period are in
      ``ok`` but not in ``rate``.

    Times are in milliseconds, each a dict of FIGURES, None where not known. They are of ok requests, except
    ``send_lag_ms`` (all sent ones) and the histogram ``failed`` (all that failed or are unfinished: how long they had
    waited since their intended send).

    - ``response_time_ms``: answered minus intended send.
    - ``service_time_ms``: answered minus actual send. That is when the first byte is written, or when the connection
      for it begins to be opened.
    - ``send_lag_ms``: actual minus intended send. It holds the generator's own lateness and, where all connections
      were busy, the wait for one; ``waited`` says how many requests had to. ``pacing_lag_ms`` is the generator's own
      lateness alone: how late it noticed that a request was due.

    ``timeline`` has a row for each second: t (when it began), sent, completed, ok, errors (counts of what happened in
    it), p50_ms and p99_ms (of the times that ``latency_of`` names, of those answered ok in it; None where none was).
    ``histograms`` are HDR (compressed V2, base64) of microseconds: response_time, service_time, send_lag, failed.
    ``generator`` has a row for each process: cpu_s, wall_s (grace period included), peak_rss_mb.
    ``requests`` has a row for each request of a load of several: name, planned, sent, completed, ok, unfinished,
    errors, and response_time_ms of its ok ones. It is empty for a load of one.
    ``latency_of`` is the best measure of what a user would feel that the engine knows: ``response_time``, or
    ``service_time`` for an engine that knows no intended send.
    """

    engine: str
    planned: int
    sent: int
    completed: int
    ok: int
    unfinished: int
    errors: dict[str, int]
    duration_s: float
    rate: float
    response_time_ms: Figures
    service_time_ms: Figures
    send_lag_ms: Figures
    pacing_lag_ms: Figures
    waited: int
    latency_of: str
    examples: dict[str, str]
    timeline: list[dict[str, Any]]
    histograms: dict[str, str]
    generator: list[dict[str, float]]
    requests: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    @property
    def latency_ms(self) -> Figures:
        """The figures that ``latency_of`` names."""
        return self.response_time_ms if self.latency_of == "response_time" else self.service_time_ms

    def summary(self) -> dict[str, Any]:
        """The object that ``load --json`` prints."""
        return {name: getattr(self, name) for name in SUMMARY}

    def to_dict(self) -> dict[str, Any]:
        """All of it, as the trial's file keeps it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """The opposite of to_dict. Raises TypeError where keys are missing or unknown."""
        return cls(**values)


SUMMARY = (
    "engine", "planned", "sent", "completed", "ok", "unfinished", "errors", "duration_s", "rate",
    "response_time_ms", "service_time_ms", "send_lag_ms", "requests",
)  # fmt: skip


def merge(
    engine: str, parts: Sequence[Mapping[str, Any]], timeline: list[dict[str, Any]], requests: Sequence[Request]
) -> Result:
    """One result of what the processes of a load measured (the generator's ``Measured``, see generator/job.js)."""
    total: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for part in parts:
        for name in ("planned", "sent", "completed", "ok", "ok_in_time", "unfinished", "waited"):
            total[name] += part[name]
        errors.update(part["errors"])
        examples = {**part["examples"], **examples}
    spreads = {name: Spread.merged([part["spreads"][name] for part in parts]) for name in parts[0]["spreads"]}
    duration_s = max(part["duration_s"] for part in parts)
    return Result(
        engine=engine,
        planned=total["planned"],
        sent=total["sent"],
        completed=total["completed"],
        ok=total["ok"],
        unfinished=total["unfinished"],
        errors={kind: errors[kind] for kind in ERROR_KINDS if errors[kind]},
        duration_s=duration_s,
        rate=total["ok_in_time"] / duration_s if duration_s > 0 else 0.0,
        response_time_ms=spreads["response_time"].figures(),
        service_time_ms=spreads["service_time"].figures(),
        send_lag_ms=spreads["send_lag"].figures(),
        pacing_lag_ms=spreads["pacing_lag"].figures(),
        waited=total["waited"],
        latency_of="response_time",
        examples=examples,
        timeline=timeline,
        histograms={
            name: spreads[name].histogram.encode() for name in ("response_time", "service_time", "send_lag", "failed")
        },
        generator=[part["generator"] for part in parts],
        requests=[
            _row(request.name, [part["requests"][index] for part in parts]) for index, request in enumerate(requests)
        ]
        if len(requests) > 1
        else [],
    )


def _row(name: str, shares: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What became of one request of several, of what each process measured (``Share``, see generator/job.js)."""
    counts = {key: sum(share[key] for share in shares) for key in ("planned", "sent", "completed", "ok")}
    errors = sum((Counter(share["errors"]) for share in shares), Counter())
    return {
        "name": name,
        **counts,
        "unfinished": counts["planned"] - counts["ok"] - errors.total(),
        "errors": {kind: errors[kind] for kind in ERROR_KINDS if errors[kind]},
        "response_time_ms": Spread.merged([share["response_time"] for share in shares]).figures(),
    }


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
