"""What an engine measured: one shape for all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

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
