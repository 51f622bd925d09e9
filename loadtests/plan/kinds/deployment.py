"""Replace a server's processes under a fixed rate of requests, and measure the lost requests and the disturbed time."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from loadtests.plan.fields import TablePlace
from loadtests.plan.kinds.pace import LONGER_QUICK, FixedRate
from loadtests.plan.kinds.requests import RequestsTest
from loadtests.plan.metrics import P99, Metric
from loadtests.plan.recovery_time import MIN_USUAL, ROUNDING_S, TIME_SLACK, usual_of
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Deployment, Result, Trial
from loadtests.records.histogram import decoded
from loadtests.setups.reading import MAX_REQUESTS, RELOAD
from loadtests.workload import Request

if TYPE_CHECKING:
    from typing import Self

REQUESTS, JITTER = 250, 100  # With max-requests, a worker is replaced after these requests and a random number.
# The values of `way` and their descriptions.
WAYS = {
    "reload": "while its workers are replaced gracefully",
    "max-requests": f"while each worker is replaced after {REQUESTS} to {REQUESTS + JITTER} requests",
    "restart": "while it is restarted",
    "kill": "while a worker is killed",
}
AGAIN = 3  # if all of the last three seconds differ from the usual values, the disturbance hasn't ended
OF_CLIENTS = ("keep-alive", "closing")
LOSSES = ("refused", "reset", "502/503", "timed out", "other")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Throughout(FixedRate):
    """A fixed rate before, during and after the replacement."""

    quick_times = LONGER_QUICK


def done(trial: Trial) -> Deployment | None:
    """Return the replacement of the server's processes, or None if no process was replaced."""
    found = trial.meanwhile.deployment if trial.meanwhile else None
    return found if found and found.replaced and trial.result else None


def losses(result: Result) -> dict[str, int]:
    failed = Counter(result.failed)
    ends = sum((Counter(second.ends or {}) for second in result.timeline), Counter[str]())
    by_gateway = min(ends["502"] + ends["503"], failed["status"])
    known = (failed["refused"], failed["reset"], by_gateway, failed["timeout"] + failed["unfinished"])
    return dict(zip(LOSSES, (*known, failed.total() - sum(known)), strict=True))


def _of_kind(kind: str) -> Callable[[Result], int]:
    return lambda result: losses(result)[kind]


def lost_by(result: Result, client: str) -> int:
    """Return the number of requests that clients of one kind lost. The kind is a value of OF_CLIENTS."""
    return sum(one.planned - one.ok for one in result.requests if one.name.endswith(f", {client}"))


def disturbed_s(trial: Trial) -> float | None:
    """Count the seconds after the start of the replacement whose figures differ from the figures before the start.

    Returns:
        The number of seconds, infinity if the disturbance lasted until the end, or None if the usual values aren't
        known, because the setup didn't sustain the rate before the replacement or because there are too few seconds.
    """
    found, result = done(trial), trial.result
    if found is None or result is None:
        return None
    since = MIN_USUAL if found.t is None else found.t
    whole = [second for second in result.timeline if second.t + 1 <= result.duration_s + ROUNDING_S]
    usual = usual_of([second for second in whole if second.t + 1 <= since])
    if usual is None:
        return None
    as_before = [usual.like(second) for second in whole if second.t + 1 > since]
    return math.inf if not any(as_before[-AGAIN:]) else float(as_before.count(False))


def downtime_ms(trial: Trial) -> float | None:
    """Return the longest time in which every request failed, or None if the trial lacks this value."""
    return trial.result.outage_ms if trial.result and done(trial) else None


def _longest_ms(trial: Trial) -> float | None:
    """Return the longest time until a request was answered, failed or abandoned."""
    if done(trial) is None or trial.result is None:
        return None
    failed = trial.result.histograms.get("failed")
    failed_us = decoded(failed).percentile(100) if failed else None
    return max(trial.result.latency_ms["max"] or 0.0, (failed_us or 0) / 1000) or None


def _lost(name: str, called: str, count: Callable[[Result], int]) -> TrialCount:
    def read(trial: Trial) -> float | None:
        return count(trial.result) if trial.result and done(trial) else None

    return TrialCount(name, called, read, summed=True, bad=True)


def _memory(read: Callable[[Deployment], float]) -> Callable[[Trial], float | None]:
    return lambda trial: read(found) or None if (found := done(trial)) else None


LONGEST = Metric(
    "longest_wait_ms",
    "longest wait",
    "ms",
    _longest_ms,
    better="shorter",
    worse="longer",
    question="longest wait of a request while the server is replaced",
    first="is the shortest",
    cost_units=("requests",),
)
BEFORE = Metric("memory_before_mb", "memory before", "MB", _memory(lambda found: found.before_mb), short="MB before")
AFTER = Metric("memory_after_mb", "memory after", "MB", _memory(lambda found: found.after_mb), short="MB after")
METRICS = (LONGEST, BEFORE, AFTER)
LOST = _lost("lost", "requests lost", lambda result: sum(losses(result).values()))
DISTURBED = TrialCount("s not as before", "seconds disturbed by the replacement", disturbed_s, bad=True)
DOWNTIME = TrialCount("downtime, ms", "milliseconds in which every request failed", downtime_ms, bad=True)
COUNTED = (
    LOST,
    DOWNTIME,
    *(_lost(kind, f"requests lost, {kind}", _of_kind(kind)) for kind in LOSSES),
    *(_lost(client, f"requests lost by {client} clients", partial(lost_by, client=client)) for client in OF_CLIENTS),
    DISTURBED,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DeploymentTest(RequestsTest):
    """Send HTTP requests while the server's processes are replaced.

    Half of the requests come from clients that keep their connections, and half from clients that open a new connection
    for each request.
    """

    tag = "deployment"
    order = 4
    paces = (Throughout,)
    in_slices = False
    has_load_curve = False
    failures_allowed = 1.0  # any share may fail, because the kind measures failures
    metrics = METRICS
    verdicts = (LONGEST,)
    leading_counts = (LOST,)
    heading = "Deployments"
    about = (
        "The server's processes are replaced under a fixed rate. Half of the clients keep their connections, and "
        "half open a new connection for each request. The load generator never retries, because retries would hide "
        "lost requests. Downtime is the longest period in which every request that was due failed. The table shows "
        "the median of the trials. The longest wait is the time from the moment a request was due until it was "
        "answered, failed or timed out. The table counts the seconds after the start of the replacement with fewer "
        "successful answers than before, or with a p50 that differs by more than "
        f"{TIME_SLACK:.0%}. Memory is the sum over all processes of the setup, before and after the load. CPU time "
        "is unknown, because the CPU time of processes that have ended can't be read."
    )
    caption = "Lost requests: {what}"
    table = {LONGEST: "longest wait, ms", P99: "p99, ms", BEFORE: "MB before", AFTER: "MB after"}
    optional = ("p99, ms", "trials", "other")

    way: Annotated[
        Literal["reload", "max-requests", "restart", "kill"],
        Meta(description="The way to replace the server's processes."),
    ]

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        found = super().own(values, place)
        return {**found, "requests": _of_both(found["requests"])}

    @property
    def deployment(self) -> str:  # type: ignore[override]
        return self.way

    @property
    def knobs(self) -> tuple[tuple[str, str], ...]:  # type: ignore[override]
        if self.way != "max-requests":
            return ()
        return (("MAX_REQUESTS", f"{REQUESTS}"), ("MAX_REQUESTS_JITTER", f"{JITTER}"))

    @property
    def setup_features(self) -> frozenset[str]:
        demand = {"reload": RELOAD, "max-requests": MAX_REQUESTS}.get(self.way)
        return super().setup_features | ({demand} if demand else set())

    @property
    def content(self) -> tuple[object, ...]:
        return (*super().content, *self.knobs, self.way)

    @property
    def subject(self) -> str:
        kept = [request for request in self.requests if not request.closes]
        sent = f"{kept[0].method} {kept[0].path}" if len(kept) == 1 else f"a mix of {len(kept)} requests"
        return f"{sent} {WAYS[self.way]}"

    def has_metric(self, metric: Metric) -> bool:
        return metric in (*METRICS, P99)

    def why_unknown(self, trial: Trial) -> str:
        return "none of the server's processes was replaced" if self.decisive.read(trial) is None else ""

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        return super().with_requests(_of_both(requests))


def _of_both(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Return each request twice, once for each kind of client."""
    return tuple(
        dataclasses.replace(request, name=f"{request.name}, {client}", closes=client == "closing")
        for request in requests
        for client in OF_CLIENTS
    )
