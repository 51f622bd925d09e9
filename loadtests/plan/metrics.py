"""The metrics that are compared, their units, and which way is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """``per_request`` figures and times get better downwards, rates upwards."""

    name: str
    label: str
    unit: str
    more_is_better: bool = False


METRICS = {
    metric.name: metric
    for metric in (
        Metric("rps", "throughput", "requests/s", more_is_better=True),
        Metric("capacity_rps", "capacity", "requests/s", more_is_better=True),
        Metric("p50_ms", "response time p50", "ms"),
        Metric("p90_ms", "response time p90", "ms"),
        Metric("p95_ms", "response time p95", "ms"),
        Metric("p99_ms", "response time p99", "ms"),
        Metric("p99.9_ms", "response time p99.9", "ms"),
        Metric("max_ms", "longest response time", "ms"),
        Metric("mean_ms", "mean response time", "ms"),
        Metric("cpu_ms_per_request", "CPU per request", "ms"),
        Metric("web_cpu_ms_per_request", "CPU per request, web", "ms"),
        Metric("worker_cpu_ms_per_request", "CPU per request, worker", "ms"),
        Metric("redis_cpu_ms_per_request", "CPU per request, redis", "ms"),
        Metric("requests_per_cpu_s", "requests per CPU-second", "requests/s", more_is_better=True),
        Metric("memory_peak_mb", "peak memory", "MB"),
        Metric("memory_settled_mb", "settled memory", "MB"),
        Metric("context_switches_per_request", "context switches per request", ""),
    )
}


def metric(name: str) -> Metric:
    """The metric of that name. Raises ValueError for an unknown one: a guessed direction would turn a verdict."""
    try:
        return METRICS[name]
    except KeyError:
        raise ValueError(f"unknown metric {name!r}; known are {', '.join(METRICS)}") from None
