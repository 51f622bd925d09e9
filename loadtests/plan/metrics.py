"""A metric: what is read off a trial, in which unit, which way is better, and what it is called.

Those that only one kind of test has are in that kind's file (``loadtests.plan.kinds``); these are what several share.
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
    """``read`` takes a trial to the metric's value, None where the trial cannot know it.

    ``label`` is what it is called among others, ``called`` in a verdict and ``short`` in a narrow one; ``{latency}``
    in these stands for response time, or service time where the engine knows no better. ``better`` and ``worse`` are
    the words of its verdicts. ``question`` is how a reader asks for one that verdicts are given on, its label by
    default, and ``first`` the verb of the winner; ``{latency}`` and ``{one}`` stand for the time that is known and for
    one of what it is of.
    ``says_unit``: ``called`` says the unit already. ``complete`` is the sentence for a share of which nobody lacks
    anything. ``cost_units``: the cost units (``CostUnit.plural``) of the tests whose trials have the metric; without
    any, all have it. ``shows_figures``: a verdict gives the figures besides their ratio. ``is_lower_bound``: whether a
    trial's value is a lower bound, because something other than the setup ended there. ``is_throughput``: a lower bound
    also if a closed loop left the servers' cores idle (``loadtests.analyse.saturation``). ``percentile``: which one it
    is, where a test may choose; ``times`` and ``key``: of what, and its name (``p99``), of all that are one.
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
    shows_figures: bool = False
    percentile: float | None = None
    times: MeasuredTime | None = None
    key: str = ""
    is_lower_bound: Callable[[Trial], bool] = lambda trial: False
    is_throughput: bool = False

    def in_words(self, latency: str) -> str:
        """What it is called; ``latency`` is what the engine knows: response time or service time."""
        return (self.called or self.label).format(latency=latency)

    def change_of(self, ratio: float, latency: str) -> str:
        """A ratio in signed words: ``12% less CPU per request``."""
        words = ("less", "more") if self.better in ("cheaper", "smaller") else ("lower", "higher")
        name = self.in_words(latency)
        noun = "throughput" if name.endswith(" per second") else re.sub(r"^p[\d.]+ ", "", name)
        return change(ratio, noun, words)

    @property
    def topic(self) -> str:
        return self.question or self.label

    @property
    def verb(self) -> str:
        """What the winner does."""
        return self.first or ("has the most" if self.more_is_better else "has the least")

    def with_unit(self, words: str) -> str:
        """Its name in words, and its unit where the words do not say it."""
        return words if self.says_unit or not self.unit else f"{words}, {self.unit}"


def percentile_of(times: MeasuredTime, key: str, name: str, label: str, **words: Any) -> Metric:
    """The metric of that name: a percentile (``p99``) of a kind of time, in ms. A trial in which the generator was late
    at it does not know it."""
    return Metric(name, label, "ms", lambda trial: times.read(trial, key), times=times, key=key, **words)


def rate_of(name: str, label: str, counts: str, first: str, done: str = "", question: str = "") -> Metric:
    """The metric of that name: how many ``counts`` (requests) are answered well, or ``done`` (opened), per second.

    It is a lower bound where the generator could ask no faster."""
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
    """A percentile of the response times (of the service times, where the engine knows no better) of all requests."""
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
    """The metric of that name: the capacity in what is counted (``requests``) per second, or in another unit."""
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
