"""Users who walk a journey: how long does each answer take, and how many journeys come to their end?

Two models. A number of users walks again and again: a closed loop, whose rate is arithmetic (users over think and
response time) and says nothing of a capacity, for a server that answers slowly is asked less. Or new users come at a
rate, walk once and leave: they come whatever the answers take, as people do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from loadtests.formatting import plural
from loadtests.plan.cost_unit import CPU, JOURNEYS
from loadtests.plan.kinds.base import LoadStep
from loadtests.plan.kinds.walking import DEFAULT_JOURNEY, REQUESTS, THINKS, WalkingTest, walked
from loadtests.plan.metrics import P50, P95, P99, Metric
from loadtests.plan.percentiles import requests_needed
from loadtests.plan.percentiles_with_failures import of_method
from loadtests.plan.scheduling_delay import too_late
from loadtests.records import Trial
from loadtests.records.bounds import Ordinal, Positive, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload import Load, Request
from loadtests.workload.users import MOST_USERS

if TYPE_CHECKING:
    from typing_extensions import Self


def _method(method: str, key: str) -> Metric:
    def read(trial: Trial) -> float | None:
        if trial.result is None or too_late(trial.result, key):
            return None
        return of_method(trial.result, method, key)

    return Metric(f"{method.lower()}_{key}_ms", f"{method}, response time {key}", "ms", read, short=f"{method} {key}")


def _per_minute(trial: Trial) -> float | None:
    if trial.result is None or trial.result.journeys is None or not trial.result.duration_s:
        return None
    return trial.result.journeys.completed * 60 / trial.result.duration_s


def _completed(trial: Trial) -> float | None:
    found = trial.result.journeys if trial.result else None
    ended = found.completed + found.broken_off if found else 0
    return found.completed * 100 / ended if found and ended else None


OWN = (
    *(_method(method, key) for method in ("GET", "POST") for key in ("p50", "p99")),
    Metric("journeys_per_minute", "journeys per minute", "", _per_minute, more_is_better=True),
    Metric("journeys_completed_percent", "journeys completed", "%", _completed, more_is_better=True),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JourneyTest(WalkingTest):
    """``users`` walk the journey again and again for ``duration_s``, or ``rate`` new ones come a second."""

    kind = "journey"
    order = 4
    metrics = OWN
    decisive = P99
    cost_unit = JOURNEYS
    timed_unit = "request"
    heading = "Users' journeys"
    about = (
        "Users go through the application step by step, and think in between. Response time is counted from the moment "
        "in which a user was ready, over all requests of all users; GET and POST are told apart below. Where a number "
        "of users walks again and again, how many requests they make is arithmetic, users over think and response "
        "time: it is no capacity, and as a server slows down it is asked less. Where new users come at a rate, they "
        "come whatever the answers take. Percentiles are taken in each trial, over all of its requests, then their "
        "mean over trials."
    )
    caption = "{latency}, ms, and journeys: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        "p50_ms": "p50",
        "p99_ms": "p99",
        "get_p99_ms": "GET p99",
        "post_p99_ms": "POST p99",
        "journeys_per_minute": "journeys/min",
        "journeys_completed_percent": "completed, %",
        JOURNEYS.cpu.name: "CPU ms/journey",
        CPU.name: "CPU ms/request",  # which a test knows that is too short for whole journeys
    }
    optional = ("CPU ms/request", "GET p99", "trials")
    users: Ordinal | None = None
    rate: Positive | None = None
    duration_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        fields = walked(name, table, folder)
        users, rate = table.take("users", int, None), table.positive("rate", None)
        if (users is None) == (rate is None):
            raise table.error("users", "and rate: one of them is needed, how many users or how many new ones a second")
        if users is not None and not 1 <= users <= MOST_USERS:
            raise table.error("users", f"is {users}; a whole number from 1 to {MOST_USERS:,} is needed")
        return cls(users=users, rate=rate, duration_s=table.seconds("duration"), **fields)

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        """The typical time, the highest percentile that a trial can know of those that users notice, and the cost."""
        return (P50, P99 if self._knows_p99 else P95, JOURNEYS.cpu)

    @property
    def _knows_p99(self) -> bool:
        """Whether a trial can have enough requests for p99, if answers take no time. Taken for granted of a journey of
        somebody's own: how many requests that makes is not known."""
        if self.journey != DEFAULT_JOURNEY:
            return True
        if self.rate is not None:
            journeys = self.rate * self.duration_s
        else:
            cycle_s = (THINKS + 1) * fmean(self.think_s)
            journeys = (self.users or 0) * self.duration_s / cycle_s if cycle_s else math.inf
        return journeys * REQUESTS >= requests_needed(99.0)

    def has_metric(self, metric: Metric) -> bool:
        return super().has_metric(metric) or metric is CPU

    @property
    def seconds(self) -> float:
        return self.duration_s

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        return Load(
            origin=origin,
            requests=tuple(requests),
            arrival_seed=seed,
            connections=max(self.users or 1, self.injectors),
            duration_s=self.duration_s,
            warmup_s=self.warmup_s,
            processes=self.injectors,
            core=core,
            users=self.walked_by(self.users, self.rate),
        )

    @property
    def load_step(self) -> LoadStep | None:
        alike = (self.engine, Path(self.journey).stem, self.file_digest, self.path, self.think_s, self.sign_in)
        if self.users is not None:
            return LoadStep(self.users, "users", self._who, self._who, alike)
        assert self.rate is not None  # which it has where it has no users
        return LoadStep(self.rate, "new users per second", f"{self.rate:g}/s", self._who, alike)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.users, self.rate)

    @property
    def description(self) -> str:
        return f"{self.short_description}, {self._who}, {self.thinking}"

    @property
    def condition(self) -> str:
        return f"with {self._who}" if self.users else f"at {self._who}"

    @property
    def _who(self) -> str:
        return plural(self.users, "user") if self.users else f"{self.rate:g} new users a second"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"
