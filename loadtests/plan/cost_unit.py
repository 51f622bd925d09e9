"""What a test counts, and shares its cost among: requests, messages, deliveries, connections, journeys.

The metrics of cost are made here, each under names that say what it is the cost of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from loadtests.plan.metrics import MEMORY_PEAK, MEMORY_SETTLED, TIMES, Metric
from loadtests.records import Trial

UNCHARGED = "uncharged"
_PER_S = {"ms": 1e3, "µs": 1e6}
_SPELT = {"ms": "ms", "µs": "us"}


@dataclass(frozen=True)
class CostUnit:
    """``one`` and ``many`` are its words, ``well`` says of one that it went well, and ``unit`` is that of the CPU time
    of one: ms or µs. ``count`` takes a trial to how many its processes' use is for, 0 where that is not known."""

    singular: str
    plural: str
    success: str
    count: Callable[[Trial], float]
    unit: str = "ms"

    def metric(self, name: str, label: str, unit: str, read: Callable[[Trial], float | None], **words: Any) -> Metric:
        """A metric that trials have whose test counts this."""
        return Metric(name, label, unit, read, cost_units=(self.plural,), **words)

    @cached_property
    def cpu(self) -> Metric:
        """The CPU time of one, over all processes that the setup pays for. What fails burns CPU too and delivers
        nothing: what went well is charged for it."""
        return self.metric(
            f"cpu_{_SPELT[self.unit]}_per_{self._name}",
            f"CPU per {self.singular}",
            self.unit,
            lambda trial: self._cpu([one.cpu_s for one in trial.charged], trial),
            short="CPU",
            better="cheaper",
            worse="dearer",
            question=f"CPU time per {self.singular}",
            first="is the cheapest",
        )

    @cached_property
    def switches(self) -> Metric:
        name, label = f"context_switches_per_{self._name}", f"context switches per {self.singular}"
        return self.metric(name, label, "", self._switches)

    def of_role(self, role: str, charged: bool = True) -> Metric:
        """The CPU time of one in the processes of one role that the setup pays for, or in those that it does not."""

        def read(trial: Trial) -> float | None:
            own = [one.cpu_s for one in trial.processes if one.role == role and one.charged == charged]
            return self._cpu(own, trial)

        prefix, note = (role, "") if charged else (f"{role}_{UNCHARGED}", ", not charged")
        return self.metric(f"{prefix}_{self.cpu.name}", f"CPU per {self.singular}, {role}{note}", self.unit, read)

    def role_of(self, metric: str) -> Metric | None:
        """The metric that ``of_role`` gave that name; None where it is none of its."""
        role = metric.removesuffix(f"_{self.cpu.name}")
        if role == metric:
            return None
        return self.of_role(role.removesuffix(f"_{UNCHARGED}"), charged=not role.endswith(f"_{UNCHARGED}"))

    def core_hours(self, cpu: float) -> float:
        """The core-hours of a CPU time in ``unit``."""
        return cpu / _PER_S[self.unit] / 3600

    @property
    def _name(self) -> str:
        return self.singular.replace("-", "_")

    def _cpu(self, cpu_s: list[float], trial: Trial) -> float | None:
        count = self.count(trial)
        return sum(cpu_s) * _PER_S[self.unit] / count if cpu_s and count else None

    def _switches(self, trial: Trial) -> float | None:
        count = self.count(trial)
        if not trial.charged or not count:
            return None
        return sum(process.context_switches for process in trial.charged) / count


def _billed(trial: Trial) -> float:
    if trial.result is None:
        return 0
    return trial.result.ok if trial.result.billed is None else trial.result.billed


def _delivered(trial: Trial) -> float:
    result = trial.result
    if result is None or result.deliveries is None:
        return 0
    # What was sent while the server settled had receivers as well, and is in what the processes used.
    return result.deliveries.delivered * (_billed(trial) / result.ok if result.ok else 1.0)


def _held(trial: Trial) -> float:
    result = trial.result
    return result.connections.opened * result.duration_s if result and result.connections else 0


def _events(trial: Trial) -> float:
    return trial.result.streams.events if trial.result and trial.result.streams else 0


def _completed(trial: Trial) -> float:
    return trial.result.journeys.completed if trial.result and trial.result.journeys else 0


REQUESTS = CostUnit("request", "requests", "request answered well", _billed)
MESSAGES = CostUnit("message", "messages", "message that came back", _billed, "µs")
CONNECTIONS = CostUnit("connection", "connections", "connection opened", _billed)
DELIVERIES = CostUnit("delivery", "deliveries", "delivery", _delivered, "µs")
HELD = CostUnit("connection-second", "connection-seconds", "second of a connection", _held, "µs")
JOURNEYS = CostUnit("journey", "journeys", "journey completed", _completed)
EVENTS = CostUnit("event", "events", "event that came", _events, "µs")
EVERY = (REQUESTS, MESSAGES, CONNECTIONS, DELIVERIES, HELD, JOURNEYS, EVENTS)

CPU = REQUESTS.cpu

SHARED = (
    *TIMES,
    CPU,
    MEMORY_PEAK,
    MEMORY_SETTLED,
    REQUESTS.switches,
    *(metric for counted in EVERY[1:] for metric in (counted.cpu, counted.switches)),
)
