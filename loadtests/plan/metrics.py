"""Define metrics. A metric has a function that reads it from a trial, a unit, a direction and several names.

This module contains the metrics that several kinds of tests share. The metrics of only one kind are in the kind's file
(``loadtests.plan.kinds``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loadtests.formatting import change
from loadtests.plan.times import ANSWERS, MeasuredTime
from loadtests.records import Trial
from loadtests.records.result import PERCENTILES


@dataclass(frozen=True)
class Metric:
    """A figure of a trial.

    In texts, ``{latency}`` is a placeholder for response time, or service time if the engine doesn't measure the
    response time.

    Args:
        name: The name in files.
        label: The name in lists.
        unit: The unit of the value.
        read: A function that returns the value in a trial, or None if the trial lacks this value.
        more_is_better: Whether a higher value is better.
        called: The name in a verdict.
        short: The name in a narrow verdict.
        better: The word for a better value in verdicts.
        worse: The word for a worse value in verdicts.
        question: The reader's question that the verdict answers. The default is the label. ``{one}`` is a placeholder
            for the measured unit, such as a request.
        first: The verb phrase for the best setup, such as ``is the fastest``.
        says_unit: Whether ``called`` contains the unit.
        complete: The sentence for the case that every setup reaches 100%.
        cost_units: The cost units (``CostUnit.plural``) of the tests with this metric. If empty, all tests have this
            metric.
        percentile: The percentile, if a test can select percentiles.
        times: The kind of time, if the metric is a percentile.
        key: The name of the percentile, such as ``p99``.
        is_lower_bound: Whether a trial's value is a lower bound, because something other than the setup was the limit.
        is_throughput: Whether the value is also a lower bound if a closed loop left the servers' cores idle
            (``loadtests.analyse.saturation``).
    """

    name: str
    label: str
    unit: str
    read: Callable[[Trial], float | None]
    more_is_better: bool = False
    called: str = ""
    short: str = ""
    better: str = "faster"
    worse: str = "slower"
    question: str = ""
    first: str = ""
    says_unit: bool = False
    complete: str = ""
    cost_units: tuple[str, ...] = ()
    percentile: float | None = None
    times: MeasuredTime | None = None
    key: str = ""
    is_lower_bound: Callable[[Trial], bool] = lambda trial: False
    is_throughput: bool = False

    def in_words(self, latency: str) -> str:
        """Return the name in a verdict.

        ``latency`` is the time that the engine measures: response time or service time.
        """
        return (self.called or self.label).format(latency=latency)

    def change_of(self, ratio: float, latency: str) -> str:
        """Describe a ratio as a change, such as ``12% less CPU per request``."""
        words = ("less", "more") if self.better in ("cheaper", "smaller") else ("lower", "higher")
        name = self.in_words(latency)
        noun = "throughput" if name.endswith(" per second") else re.sub(r"^p[\d.]+ ", "", name)
        return change(ratio, noun, words)

    @property
    def topic(self) -> str:
        return self.question or self.label

    @property
    def verb(self) -> str:
        """The verb phrase for the best setup."""
        return self.first or ("has the most" if self.more_is_better else "has the least")

    def with_unit(self, words: str) -> str:
        """Append the unit to a name, unless the name already contains the unit."""
        return words if self.says_unit or not self.unit else f"{words}, {self.unit}"


def percentile_of(times: MeasuredTime, key: str, name: str, label: str, **words: Any) -> Metric:
    """Create the metric of a percentile (``p99``) of a kind of time, in ms.

    A trial lacks this value if the generator's delay is too large a share of the percentile.
    """
    return Metric(name, label, "ms", lambda trial: times.read(trial, key), times=times, key=key, **words)


def rate_of(name: str, label: str, counts: str, first: str, done: str = "", question: str = "") -> Metric:
    """Create the metric of a rate per second. The rate is a lower bound if the generator was the limit.

    Args:
        name: The metric's name.
        label: The metric's label.
        counts: The counted units, such as ``requests``.
        first: The verb phrase for the best setup.
        done: A participle for the units, such as ``opened``.
        question: The reader's question that the verdict answers.
    """
    return Metric(
        name,
        label,
        f"{counts}/s",
        lambda trial: trial.result.rate if trial.result else None,
        more_is_better=True,
        called=f"{counts} {done} per second".replace("  ", " "),
        short=f"{done or counts}/s",
        question=question,
        first=first,
        says_unit=True,
        cost_units=(counts,),
        is_lower_bound=lambda trial: trial.generator_limits,
        is_throughput=True,
    )


def _memory(field: str) -> Callable[[Trial], float | None]:
    return lambda trial: float(sum(getattr(process, field) for process in trial.charged)) if trial.charged else None


def time_in_ms(key: str, question: str = "") -> Metric:
    """Create the metric of a percentile of response times, or of service times if the engine measures only these."""
    return percentile_of(
        ANSWERS,
        key,
        f"{key}_ms",
        f"response time {key}",
        called=f"{key} {{latency}}",
        short=key,
        question=question,
        first="is the fastest",
        percentile=PERCENTILES[key],
    )


P50 = time_in_ms("p50", "typical {latency} (p50)")
P99 = time_in_ms("p99", "{latency} that 1 {one} in 100 exceeds (p99)")
P95 = time_in_ms("p95", "{latency} that 1 {one} in 20 exceeds (p95)")
TIMES = (P50, time_in_ms("p90"), P95, P99, time_in_ms("p99.9"))


def capacity_of(name: str, counts: str, unit: str = "", question: str = "") -> Metric:
    """Create the metric of a capacity in ``counts`` (``requests``) per second, or in another unit."""
    return Metric(
        name,
        f"capacity in {unit}" if unit else "capacity",
        unit or f"{counts}/s",
        lambda trial: trial.capacity.known if trial.capacity else None,
        more_is_better=True,
        short="capacity",
        first="sustains the most",
        cost_units=(counts,),
        is_lower_bound=lambda trial: trial.capacity is not None and trial.capacity.at_least,
        question=question,
    )


MEMORY_PEAK = Metric("memory_peak_mb", "peak memory", "MB", _memory("peak_rss_mb"))
MEMORY_SETTLED = Metric("memory_settled_mb", "settled memory", "MB", _memory("rss_mb"))
