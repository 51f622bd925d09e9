"""A metric: what is read off a trial, in which unit, which way is better, and what it is called.

Those that only one kind of test has are in that kind's file (``loadtests.plan.kinds``); these are what several share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadtests.plan.censored import of_all
from loadtests.plan.lateness import too_late
from loadtests.plan.percentiles import knowable
from loadtests.records import Trial
from loadtests.records.result import PERCENTILES


@dataclass(frozen=True)
class Question:
    """A metric as a reader asks for it. ``first`` says what the first one does, and ``others`` what the others do at
    least or at most, as a ratio to the first."""

    asked: str
    first: str
    others: str


@dataclass(frozen=True)
class Metric:
    """``read`` takes a trial to the metric's value, None where the trial cannot know it.

    ``label`` is what it is called among others, ``called`` in a verdict and ``short`` in a narrow one; ``{latency}``
    in these stands for response time, or service time where the engine knows no better. ``better`` and ``worse`` are
    the words of its verdicts. ``question`` is how a reader asks for one that verdicts are given on.
    ``says_unit``: ``called`` says the unit already.
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
    question: Question | None = None
    says_unit: bool = False

    def in_words(self, latency: str) -> str:
        """What it is called; ``latency`` is what the engine knows: response time or service time."""
        return (self.called or self.label).format(latency=latency)

    @property
    def as_question(self) -> Question:
        """``question``, or one in plain words."""
        others = "every other has at most ×{}" if self.more_is_better else "every other has at least ×{}"
        return self.question or Question(self.label, "has the most" if self.more_is_better else "has the least", others)

    def with_unit(self, words: str) -> str:
        """Its name in words, and its unit where the words do not say it."""
        return words if self.says_unit or not self.unit else f"{words}, {self.unit}"


UNCHARGED = "uncharged"


def _percentile(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        result = trial.result
        if result is None or not knowable(PERCENTILES[key], result.completed) or too_late(result, key):
            return None
        return of_all(result, key)

    return read


def rate(trial: Trial) -> float | None:
    """Requests answered ok per second."""
    return trial.result.rate if trial.result else None


def _cpu_s(trial: Trial) -> float | None:
    return sum(process.cpu_s for process in trial.charged) if trial.charged else None


def _billed(trial: Trial) -> int:
    if trial.result is None:
        return 0
    return trial.result.ok if trial.result.billed is None else trial.result.billed


def _cpu_ms_per_request(trial: Trial) -> float | None:
    # Failed requests burn CPU too and deliver nothing: what they cost is borne by those answered well.
    cpu_s = _cpu_s(trial)
    return None if cpu_s is None or not _billed(trial) else cpu_s * 1000 / _billed(trial)


def _requests_per_cpu_s(trial: Trial) -> float | None:
    cpu_s = _cpu_s(trial)
    return _billed(trial) / cpu_s if cpu_s else None


def _memory(field: str) -> Callable[[Trial], float | None]:
    return lambda trial: float(sum(getattr(process, field) for process in trial.charged)) if trial.charged else None


def _switches_per_request(trial: Trial) -> float | None:
    if not trial.charged or not _billed(trial):
        return None
    return sum(process.context_switches for process in trial.charged) / _billed(trial)


def of_role(role: str, charged: bool = True) -> Metric:
    """The CPU time per request of the processes of one role that the setup pays for, or of those that it does not."""

    def read(trial: Trial) -> float | None:
        own = [one.cpu_s for one in trial.processes if one.role == role and one.charged == charged]
        return sum(own) * 1000 / _billed(trial) if own and _billed(trial) else None

    if charged:
        return Metric(f"{role}_{CPU.name}", f"CPU per request, {role}", "ms", read)
    return Metric(f"{role}_{UNCHARGED}_{CPU.name}", f"CPU per request, {role}, not charged", "ms", read)


def time_in_ms(key: str, question: Question | None = None) -> Metric:
    """A percentile of the response times (of the service times, where the engine knows no better) of all requests:
    those that failed rank as infinitely slow. A trial in which the generator was late at that percentile does not know
    it."""
    return Metric(
        f"{key}_ms", f"response time {key}", "ms", _percentile(key), False, f"{key} {{latency}}", key, question=question
    )


P50 = time_in_ms("p50", Question("typical {latency} (p50)", "is the fastest", "every other takes at least ×{}"))
P99 = time_in_ms(
    "p99", Question("{latency} that 1 request in 100 exceeds (p99)", "is the fastest", "every other takes at least ×{}")
)
P95 = time_in_ms(
    "p95", Question("{latency} that 1 request in 20 exceeds (p95)", "is the fastest", "every other takes at least ×{}")
)
TIMES = (P50, time_in_ms("p90"), P95, P99, time_in_ms("p99.9"))

CPU = Metric(
    "cpu_ms_per_request",
    "CPU per request",
    "ms",
    _cpu_ms_per_request,
    called="CPU per request",
    short="CPU",
    better="cheaper",
    worse="dearer",
    question=Question("CPU time per request", "is the cheapest", "every other costs at least ×{}"),
)
REQUESTS_PER_CPU_S = Metric(
    "requests_per_cpu_s", "requests per CPU-second", "requests/s", _requests_per_cpu_s, more_is_better=True
)
MEMORY_PEAK = Metric("memory_peak_mb", "peak memory", "MB", _memory("peak_rss_mb"))
MEMORY_SETTLED = Metric("memory_settled_mb", "settled memory", "MB", _memory("rss_mb"))
SWITCHES = Metric("context_switches_per_request", "context switches per request", "", _switches_per_request)

SHARED = (*TIMES, CPU, REQUESTS_PER_CPU_S, MEMORY_PEAK, MEMORY_SETTLED, SWITCHES)
