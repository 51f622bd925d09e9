"""What is read off a trial, under the names and units of ``loadtests.plan.metrics``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from loadtests.analyse.observations import Observation
from loadtests.analyse.percentiles import knowable
from loadtests.store import Trial

PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9")
ROLES = ("web", "worker", "redis")  # the order they are shown in; other roles follow

CPU = "cpu_ms_per_request"
CAPACITY = "capacity_rps"
COST = ("requests_per_cpu_s", "memory_peak_mb", "memory_settled_mb", "context_switches_per_request")


def role_cpu(role: str) -> str:
    """The name of the CPU time per request of one role's processes."""
    return f"{role}_{CPU}"


def judged(kind: str) -> tuple[str, ...]:
    """The metrics of a test of that kind that a verdict is given on. Few: each one more widens all intervals."""
    return {"latency": ("p50_ms", "p99_ms", CPU), "capacity": (CAPACITY,)}.get(kind, ("rps",))


def every(roles: Iterable[str]) -> list[str]:
    """The names of all metrics, in the order of summary.csv."""
    return [*(f"{key}_ms" for key in PERCENTILES), "rps", CAPACITY, CPU, *map(role_cpu, roles), *COST]


def observations(trial: Trial) -> Iterator[Observation]:
    """All that a valid trial knows; what it cannot know is left out."""
    for metric, value in _values(trial):
        yield Observation(trial.label, trial.test, trial.block, metric, value)


def _values(trial: Trial) -> Iterator[tuple[str, float]]:
    result = trial.result or {}
    times = result.get(f"{latency_of(trial)}_ms") or {}
    completed, ok = result.get("completed") or 0, result.get("ok") or 0
    for key in PERCENTILES:
        if times.get(key) is not None and knowable(float(key.removeprefix("p")), completed):
            yield f"{key}_ms", float(times[key])
    if result.get("rate") is not None:
        yield "rps", float(result["rate"])
    if (rate := capacity(trial)) is not None:
        yield CAPACITY, rate
    if not trial.processes:
        return
    yield "memory_peak_mb", _total(trial, "peak_rss_mb")
    yield "memory_settled_mb", _total(trial, "rss_mb")
    cpu_s = _total(trial, "cpu_s")
    if ok:
        # Failed requests burn CPU too and deliver nothing: what they cost is borne by those answered well.
        yield CPU, cpu_s * 1000 / ok
        for role in roles([trial]):
            yield role_cpu(role), _total(trial, "cpu_s", role) * 1000 / ok
        yield "context_switches_per_request", _total(trial, "context_switches") / ok
    if cpu_s > 0:
        yield "requests_per_cpu_s", ok / cpu_s


def capacity(trial: Trial) -> float | None:
    """The capacity in requests/s; None where the search met the end of the generator, of the rates or of the probes."""
    found = trial.capacity or {}
    return float(found["rate"]) if found.get("rate") and found["limited_by"] == "server" else None


def latency_of(trial: Trial) -> str:
    """What the engine knows of latency: ``response_time``, or ``service_time`` where it knows no intended send."""
    return str((trial.result or {}).get("latency_of") or "response_time")


def _total(trial: Trial, field: str, role: str | None = None) -> float:
    return float(sum(row[field] for row in trial.processes if role is None or row["role"] == role))


def roles(trials: Iterable[Trial]) -> list[str]:
    """The roles there are, in the order they are shown."""
    found: set[str] = {row["role"] for trial in trials for row in trial.processes}
    return [role for role in ROLES if role in found] + sorted(found - set(ROLES))


def generator(trial: Trial) -> tuple[float | None, float | None]:
    """The generator's own part in a trial: p99 of its lateness in ms, and the CPU of its busiest process, 1 a core."""
    result: dict[str, Any] = trial.result or {}
    shares = [row["cpu_s"] / row["wall_s"] for row in result.get("generator") or [] if row["wall_s"]]
    return (result.get("pacing_lag_ms") or {}).get("p99"), max(shares, default=None)


def requests_by_process(trial: Trial, role: str) -> list[int]:
    """How many requests each process of a role handled, those that handled none included, where they count them."""
    return [row["requests"] for row in trial.processes if row["role"] == role and row.get("requests") is not None]


FAILED = 0.001  # share of failed requests from which it is told: more than an objective allows


def failed_share(trials: Iterable[Trial]) -> float:
    """The share of the requests of some trials, 0 to 1, that failed."""
    results = [(sum(failures(trial).values()), int((trial.result or {}).get("sent") or 0)) for trial in trials]
    failed, sent = (sum(column) for column in zip(*results, strict=True)) if results else (0, 0)
    return failed / sent if sent else 0.0


def failures(trial: Trial) -> dict[str, int]:
    """Failed requests by kind, those never answered among them."""
    result: dict[str, Any] = trial.result or {}
    kinds = {kind: int(count) for kind, count in (result.get("errors") or {}).items() if count}
    if result.get("unfinished"):
        kinds["unfinished"] = int(result["unfinished"])
    return kinds
