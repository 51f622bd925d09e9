"""The highest rate within an objective."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from loadtests.plan import objective as objectives
from loadtests.plan import requests as asked
from loadtests.plan.kinds.base import RequestsTest, common
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Trial
from loadtests.records.bounds import Positive, Seconds
from loadtests.toml import TomlTable
from loadtests.workload import Feature, Load, Request
from loadtests.workload.load import MAX_RATE

if TYPE_CHECKING:
    from typing_extensions import Self

# What a search takes: the mean of nine on a noisy machine. A simulated one, whose server never changes its mind, takes
# fewer long ones. For the time left only.
SHORT_PROBES = 11
LONG_PROBES = 18


def _read(trial: Trial) -> float | None:
    return trial.capacity.known if trial.capacity else None


def _at_least(trial: Trial) -> bool:
    return trial.capacity is not None and trial.capacity.at_least


CAPACITY = Metric(
    "capacity_rps",
    "capacity",
    "requests/s",
    _read,
    more_is_better=True,
    called="capacity",
    short="capacity",
    question=Question("capacity", "holds the most", "every other holds at most ×{}"),
    of=("requests",),
    at_least=_at_least,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Capacity(RequestsTest):
    """A search for the highest rate within ``objective``, from ``start_rate`` on and at most ``max_rate`` requests per
    second, with short probes of ``probe_s`` seconds and long ones of ``confirm_s``, or longer where that has too few
    requests for the percentile. ``arrivals`` says when the requests are due: at ``random`` moments, other ones for each
    probe, or at ``even`` ones."""

    kind = "capacity"
    place = 3
    metrics = (CAPACITY,)
    judged = (CAPACITY,)
    decisive = CAPACITY
    needs = frozenset({Feature.EARLY_STOP, Feature.RESPONSE_TIME})
    heading = "Capacity"
    about = (
        "The highest fixed rate at which long probes together are within the objective: response times from the "
        "intended send, errors, at least 99% of the planned requests answered in time, and a backlog that does "
        "not grow. Where the generator, the highest rate allowed or the time ended a search, the server's capacity is "
        "at least what was reached, and is told so; where the number of probes ended it, it is not known."
    )
    caption = "Capacity: {what}"
    columns = {"capacity_rps": "capacity, requests/s"}  # noqa: RUF012 - it is never changed
    optional = ("trials", "probes")

    objective: str
    start_rate: Positive
    max_rate: Positive
    probe_s: Seconds
    confirm_s: Seconds
    arrivals: Annotated[str, Meta(pattern=r"^(random|even)\Z")] = "random"

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        workload = asked.workload(table, folder)
        asked.no_replay(table, cls.kind)
        fields = common(name, table)
        text = table.take("objective", str, "p99<50ms")
        try:
            objectives.parse(text)
        except ValueError as error:
            raise table.error("objective", str(error)) from None
        start_rate, max_rate = table.positive("start_rate", 100.0), table.positive("max_rate", 100_000.0)
        probe_s, confirm_s = table.seconds("probe", 5.0), table.seconds("confirm", 30.0)
        if max_rate > MAX_RATE:
            raise table.error("max_rate", f"is {max_rate:g}; {MAX_RATE:,.0f} is the highest that can be sent")
        if not 1 <= start_rate <= max_rate:
            raise table.error("start_rate", f"is {start_rate:g}; from 1 to max_rate ({max_rate:g}) is allowed")
        found = cls(
            requests=workload.requests,
            objective=text,
            start_rate=start_rate,
            max_rate=max_rate,
            probe_s=probe_s,
            confirm_s=confirm_s,
            arrivals=asked.arrivals(table),
            **fields,
        )
        try:
            found.search[1].require_knowable()
        except ValueError as error:
            raise table.error("start_rate", str(error)) from None
        return found

    @property
    def seconds(self) -> float:
        return SHORT_PROBES * self.probe_s + LONG_PROBES * self.confirm_s

    @property
    def search(self) -> tuple[Objective, SearchPlan]:
        objective = objectives.parse(self.objective)
        plan = SearchPlan(
            start_rate=self.start_rate,
            max_rate=self.max_rate,
            short_s=self.probe_s,
            long_s=self.confirm_s,
            requests=objective.requests,
        )
        return objective, plan

    def unsettled(self, trial: Trial) -> str:
        if CAPACITY.read(trial) is not None:
            return ""
        return trial.capacity.sentence if trial.capacity else "no search was made"

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        return Load(
            origin=origin,
            requests=tuple(requests),
            bodies=tuple(bodies),
            rate=self.start_rate,
            arrival_seed=seed if self.arrivals == "random" else None,
            duration_s=self.probe_s,
            warmup_s=self.warmup_s,
            core=core,
        )

    @property
    def asks(self) -> tuple[object, ...]:
        return (self.objective, self.arrivals, self.requests)

    @property
    def what(self) -> str:
        how = ", at random moments" if self.arrivals == "random" else ""
        return f"{self.asked} at the highest rate within {self.objective}{how}"

    @property
    def condition(self) -> str:
        return f"within {self.objective}"

    @property
    def length(self) -> str:
        return f"{self.probe_s:g} s a probe, {self.confirm_s:g} s to confirm"
