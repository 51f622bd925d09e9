"""Define the units by which the cost of a test is divided, such as requests, messages and journeys.

This module also creates the metrics of cost, whose names contain the unit.
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
    """A unit of work by which the cost of a test is divided.

    Args:
        singular: The name of one unit.
        plural: The name of several units.
        success: The name of one successful unit.
        count: A function that returns the number of units in a trial, or 0 if the number isn't known.
        unit: The unit of the CPU time: ms or µs.
    """

    singular: str
    plural: str
    success: str
    count: Callable[[Trial], float]
    unit: str = "ms"

    def metric(self, name: str, label: str, unit: str, read: Callable[[Trial], float | None], **words: Any) -> Metric:
        """Create a metric for tests whose cost is divided by this unit."""
        return Metric(name, label, unit, read, cost_units=(self.plural,), **words)

    @cached_property
    def cpu(self) -> Metric:
        """The CPU time per successful unit, over all processes that the setup pays for.

        The CPU time that failures use is also divided among the successful units.
        """
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
        """Return the metric of a role's CPU time.

        If ``charged`` is true, the metric includes only the processes that the setup pays for. Otherwise, the metric
        includes only the role's other processes.
        """

        def read(trial: Trial) -> float | None:
            own = [one.cpu_s for one in trial.processes if one.role == role and one.charged == charged]
            return self._cpu(own, trial)

        prefix, note = (role, "") if charged else (f"{role}_{UNCHARGED}", ", not charged")
        return self.metric(f"{prefix}_{self.cpu.name}", f"CPU per {self.singular}, {role}{note}", self.unit, read)

    def role_of(self, metric: str) -> Metric | None:
        """Return the metric that ``of_role`` creates under this name, or None if the name isn't a role's metric."""
        role = metric.removesuffix(f"_{self.cpu.name}")
        if role == metric:
            return None
        return self.of_role(role.removesuffix(f"_{UNCHARGED}"), charged=not role.endswith(f"_{UNCHARGED}"))

    @property
    def _name(self) -> str:
        return self.singular.replace("-", "_")

    def _cpu(self, cpu_s: list[float], trial: Trial) -> float | None:
        count = self.count(trial)
        return sum(cpu_s) * _PER_S[self.unit] / count if cpu_s and count else None

    def _switches(self, trial: Trial) -> float | None:
        count = self.count(trial)
        switches = [process.context_switches for process in trial.charged]
        if not switches or not count or None in switches:
            return None
        return sum(filter(None, switches)) / count


def _billed(trial: Trial) -> float:
    if trial.result is None:
        return 0
    return trial.result.ok if trial.result.billed is None else trial.result.billed


def _delivered(trial: Trial) -> float:
    result = trial.result
    if result is None or result.deliveries is None:
        return 0
    # Receivers also got messages that were sent while the server settled, and the CPU time includes these messages.
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
