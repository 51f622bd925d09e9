"""The highest number of users, or the highest rate at which new ones come, within an objective."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from loadtests.plan import objective as objectives
from loadtests.plan.kinds.walking import DEFAULT_JOURNEY, REQUESTS, THINKS, WalkingTest, walked
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Trial
from loadtests.records.bounds import Positive, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload import Feature, Load, Request
from loadtests.workload.users import MOST_USERS

if TYPE_CHECKING:
    from typing_extensions import Self

# For the time left only: a search in steps of a tenth takes fewer probes than one in steps of 3%.
SHORT_PROBES, LONG_PROBES = 8, 6
PRECISION = 0.1
OBJECTIVE = "p99<500ms, failures<0.1%"
MODELS = ("users", "arrivals")
MOST_COMING = 1000.0  # new users a second
FEWEST_COMING = 0.1


def _found(users: bool) -> Metric:
    unit = "users" if users else "new users/s"

    def read(trial: Trial) -> float | None:
        if trial.capacity is None or trial.result is None or trial.result.journeys is None:
            return None
        return trial.capacity.known if (trial.result.journeys.users is not None) == users else None

    return Metric(
        "capacity_users" if users else "capacity_users_per_s",
        f"capacity in {unit}",
        unit,
        read,
        more_is_better=True,
        called=f"capacity in {unit}",
        short=f"{unit} borne",
        says_unit=True,
        is_lower_bound=lambda trial: trial.capacity is not None and trial.capacity.at_least,
        question=Question(f"capacity in {unit}", "sustains the most"),
    )


CAPACITY_USERS, CAPACITY_ARRIVALS = _found(users=True), _found(users=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JourneyCapacity(WalkingTest):
    """A search for how many users (``model`` is ``users``), or how many new ones a second (``arrivals``), are borne
    within ``objective``: from ``start_rate`` on, at most ``max_rate``, with short probes of ``probe_s`` seconds and
    long ones of ``confirm_s``, or longer where that has too few requests for the percentile. Before each, users come
    for ``warmup_s``, and nothing is counted."""

    kind = "journey-capacity"
    order = 4
    metrics = (CAPACITY_USERS, CAPACITY_ARRIVALS)
    engine_features = frozenset({Feature.EARLY_STOP, Feature.RESPONSE_TIME})
    heading = "Capacity in users"
    about = (
        "The most users, or the highest rate of new ones, with which long probes together are within the objective: "
        "response times from the moment in which a user was ready, failures, and requests that do not pile up. A "
        "number of users who think in between is no capacity in requests: the rate that they make follows from how "
        "many they are and how long they think, which is in the table of that arithmetic, and with other users it is "
        "another. It says how many users such as these are borne. Where something else than the server ended a search, "
        "it is at least as many as were reached."
    )
    caption = "Capacity: {what}"
    optional = ("trials", "probes")

    model: Annotated[str, Meta(pattern=r"^(users|arrivals)\Z")]
    objective: str
    start_rate: Positive
    max_rate: Positive
    probe_s: Seconds
    confirm_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        fields = walked(name, table, folder)
        model = table.choice("model", MODELS, "users")
        text = table.take("objective", str, OBJECTIVE)
        try:
            objectives.parse(text)
        except ValueError as error:
            raise table.error("objective", str(error)) from None
        least, most = (1.0, float(MOST_USERS)) if model == "users" else (FEWEST_COMING, MOST_COMING)
        start_rate, max_rate = (
            table.positive("start_rate", 10.0 if model == "users" else 1.0),
            table.positive("max_rate", most),
        )
        if max_rate > most:
            raise table.error("max_rate", f"is {max_rate:g}; {most:g} is the most that there can be")
        if not least <= start_rate <= max_rate:
            raise table.error("start_rate", f"is {start_rate:g}; from {least:g} to max_rate ({max_rate:g}) is allowed")
        found = cls(
            model=model,
            objective=text,
            start_rate=start_rate,
            max_rate=max_rate,
            probe_s=table.seconds("probe", 10.0),
            confirm_s=table.seconds("confirm", 30.0),
            **fields,
        )
        _, plan = found.search
        if start_rate < plan.lowest_rate:
            raise table.error(
                "start_rate",
                f"is {start_rate:g}; at {plan.lowest_rate:.3g} or more a probe of {plan.longest_s / 60:g} minutes has "
                "the requests that the percentile needs",
            )
        return found

    @property
    def of_users(self) -> bool:
        """Whether a number of users walks again and again."""
        return self.model == "users"

    @property
    def decisive(self) -> Metric:  # type: ignore[override]
        return CAPACITY_USERS if self.of_users else CAPACITY_ARRIVALS

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        return (self.decisive,)

    @property
    def columns(self) -> Mapping[str, str]:  # type: ignore[override]
        return {self.decisive.name: self.decisive.label}

    def has_metric(self, metric: Metric) -> bool:
        return metric is self.decisive if metric in self.metrics else super().has_metric(metric)

    @property
    def seconds(self) -> float:
        short, long = (self.warmup_s + one for one in (self.probe_s, self.confirm_s))
        return SHORT_PROBES * short + LONG_PROBES * long - self.warmup_s

    @property
    def search(self) -> tuple[Objective, SearchPlan]:
        objective = objectives.parse(self.objective)
        each = self._requests_per_s
        plan = SearchPlan(
            start_rate=self.start_rate,
            max_rate=self.max_rate,
            min_rate=1.0 if self.of_users else FEWEST_COMING,
            precision=PRECISION,
            short_s=self.probe_s,
            long_s=self.confirm_s,
            requests=round(objective.requests / each) if each else 0,
            unit=self.decisive.unit,
            whole=self.of_users,
        )
        return objective, plan

    @property
    def _requests_per_s(self) -> float | None:
        """How many requests a second each user makes, or each new one a second, if answers take no time: by that probes
        are long enough. Not known of a journey of somebody's own, nor where nobody thinks."""
        if self.journey != DEFAULT_JOURNEY:
            return None
        if not self.of_users:
            return REQUESTS
        cycle_s = (THINKS + 1) * fmean(self.think_s)
        return REQUESTS / cycle_s if cycle_s else None

    def why_unknown(self, trial: Trial) -> str:
        if trial.capacity is None:
            return "no search was made"
        return "" if trial.capacity.known is not None else trial.capacity.sentence

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        users, arrivals = (round(self.start_rate), None) if self.of_users else (None, self.start_rate)
        return Load(
            origin=origin,
            requests=tuple(requests),
            arrival_seed=seed,
            connections=max(users or 1, self.injectors),
            duration_s=self.probe_s,
            warmup_s=self.warmup_s,
            processes=self.injectors,
            core=core,
            users=self.walked_by(users, arrivals),
        )

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.model, self.objective)

    @property
    def description(self) -> str:
        most = "the most users" if self.of_users else "the highest rate of new users"
        return f"{self.short_description}, {most} within {self.objective}, {self.thinking}"

    @property
    def condition(self) -> str:
        return f"within {self.objective}"

    @property
    def length(self) -> str:
        return f"{self.probe_s:g} s a probe, {self.confirm_s:g} s to confirm"
