"""Define the paces of users with a journey: repeating users, new users at a rate, or a search for the most users."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.fields import Keys
from loadtests.plan.kinds.pace import LONGER_QUICK, TimedPace
from loadtests.plan.kinds.search import Search
from loadtests.plan.objective import Objective
from loadtests.records.bounds import Positive
from loadtests.workload.users import MAX_USERS

if TYPE_CHECKING:
    from typing import Self

    from loadtests.plan.kinds.work import Work

FEWEST_COMING, MAX_COMING = 0.1, 1000.0  # The lowest and the highest rate of new users per second.
QUICK_SHARE = 10  # A quick test has a tenth of the users, because slow logins and pages may take seconds with more.
USERS_OR_RATE = ("users", "rate")  # A pace has exactly one of these fields.


@dataclasses.dataclass(frozen=True, kw_only=True)
class UserLoop(TimedPace):
    """A number of users who repeat the journey.

    The request rate follows from the number of users, their think time and the response time. The rate isn't a
    capacity, because a slow server gets fewer requests.
    """

    users: Annotated[int, Meta(ge=1, le=MAX_USERS, description="The number of users who repeat the journey.")]

    compared = USERS_OR_RATE
    quick_times = LONGER_QUICK

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        return "users" in values

    def condition(self, work: Work, unit: str) -> str:
        return f"with{self.phrase(work, unit)}"

    def phrase(self, work: Work, unit: str) -> str:
        return f" {plural(self.users, 'user')}"

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "arrival_seed": seed, "users": self.users}

    def quick(self) -> Self:
        return dataclasses.replace(super().quick(), users=math.ceil(self.users / QUICK_SHARE))

    @property
    def step(self) -> tuple[float, str, str, str]:  # type: ignore[override]
        who = plural(self.users, "user")
        return self.users, "users", who, who


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewUsers(TimedPace):
    """A ``rate`` of new users per second, who arrive even if answers are slow. Each user runs the journey once."""

    rate: Annotated[Positive, Meta(description="The number of new users per second.")]

    compared = USERS_OR_RATE
    quick_times = LONGER_QUICK

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        if ("users" in values) == ("rate" in values):
            raise ValueError("users: set either users (the number of users) or rate (new users per second)")
        return super().keys(values)

    def condition(self, work: Work, unit: str) -> str:
        return f"at{self.phrase(work, unit)}"

    def phrase(self, work: Work, unit: str) -> str:
        return f" {self.rate:g} new users a second"

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "arrival_seed": seed, "arrivals": self.rate}

    @property
    def step(self) -> tuple[float, str, str, str]:  # type: ignore[override]
        return self.rate, "new users per second", f"{self.rate:g}/s", f"{self.rate:g} new users a second"


@dataclasses.dataclass(frozen=True, kw_only=True)
class UserSearch(Search):
    """A search for the most users (``model`` is ``users``), or the highest rate of new users (``arrivals``)."""

    model: Annotated[
        Literal["users", "arrivals"],
        Meta(description="The searched value: the most users, or the highest rate of new users per second."),
    ] = "users"

    compared = ("model", "objective")
    step_ratio = 0.1

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        users = values.get("model", "users") == "users"
        keys = super().keys(values)
        start, most = (10.0, float(MAX_USERS)) if users else (1.0, MAX_COMING)
        return {**keys, "start_rate": (keys["start_rate"][0], start), "max_rate": (keys["max_rate"][0], most)}

    @property
    def of_users(self) -> bool:
        return self.model == "users"

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.of_users

    @property
    def unit(self) -> str:  # type: ignore[override]
        return "users" if self.of_users else "new users/s"

    @property
    def rates(self) -> tuple[float, float]:
        return (1.0, float(MAX_USERS)) if self.of_users else (FEWEST_COMING, MAX_COMING)

    def with_warmup_s(self, warmup_s: float) -> float:
        return self.seconds + sum(self.probes) * warmup_s

    def phrase(self, work: Work, unit: str) -> str:
        return f" {'the most users' if self.of_users else 'the highest rate of new users'} within {self.objective}"

    def load(self, seed: int) -> dict[str, Any]:
        users = {"users": round(self.start_rate)} if self.of_users else {"arrivals": self.start_rate}
        return {"duration_s": self.probe_s, "arrival_seed": seed, **users}

    def needed(self, objective: Objective, work: Work) -> float:
        each = work.requests_per_s(self.of_users)
        return objective.requests / each if each else 0
