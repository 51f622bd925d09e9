"""Define the paces of users with a journey: repeating users, new users at a rate, or a search for the most users."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.kinds.pace import LONGER_QUICK, TimedPace
from loadtests.plan.kinds.search import Search
from loadtests.plan.objective import Objective
from loadtests.records.bounds import Positive
from loadtests.workload.users import MAX_USERS

if TYPE_CHECKING:
    from typing import Self

    from loadtests.plan.kinds.base import Test

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

    def condition(self, test: Test) -> str:
        return f"with {plural(self.users, 'user')}"

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

    def condition(self, test: Test) -> str:
        return f"at {self.rate:g} new users a second"

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
    min_rate = 0.1
    most = float(MAX_USERS)

    @property
    def of_users(self) -> bool:
        return self.model == "users"

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.of_users

    @property
    def unit(self) -> str:  # type: ignore[override]
        return "users" if self.of_users else "new users/s"

    def with_warmup_s(self, warmup_s: float) -> float:
        return self.seconds + sum(self.probes) * warmup_s

    def phrase(self, test: Test) -> str:
        return f", {'the most users' if self.of_users else 'the highest rate of new users'} within {self.objective}"

    def load(self, seed: int) -> dict[str, Any]:
        users = {"users": max(1, round(self.start_rate))} if self.of_users else {"arrivals": self.start_rate}
        return {"duration_s": self.probe_s, "arrival_seed": seed, **users}

    def needed(self, objective: Objective, test: Test) -> float:
        each = test.requests_per_s(self.of_users)
        return objective.requests / each if each else 0
