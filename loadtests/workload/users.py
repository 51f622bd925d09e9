"""Describe the users who run a journey: their number, their arrival times and their login."""

from __future__ import annotations

import dataclasses
import math
import random

from loadtests.errors import UserError
from loadtests.workload.sign_in import SignIn

MAX_USERS = 20_000  # each user has a connection, and an address has about 28,000 ports for one server
MAX_ARRIVALS = 1_000_000  # maximum number of users in one load
LONGEST_THINK_S = 3600.0


@dataclasses.dataclass(frozen=True)
class Users:
    """Users who run a ``journey`` (the path of its file) in an application at ``path``.

    A fixed number of ``users`` repeats the journey in a closed loop: a user who waits for an answer sends nothing.
    Alternatively, new users arrive at a rate (``arrivals`` per second), at random times. Each user runs the journey
    once, and the next users arrive even if answers are slow. Think times are uniformly distributed between the two
    values of ``think_s``, in seconds. If there is a ``sign_in``, each user logs in at the start of a journey.

    Raises:
        UserError: If a value isn't valid.
    """

    journey: str
    path: str
    think_s: tuple[float, float]
    users: int | None = None
    arrivals: float | None = None
    sign_in: SignIn | None = None

    def __post_init__(self) -> None:
        if (self.users is None) == (self.arrivals is None):
            raise UserError("a journey must have either a number of users or an arrival rate")
        if self.users is not None and not 1 <= self.users <= MAX_USERS:
            raise UserError(f"the number of users must be from 1 to {MAX_USERS:,}, not {self.users:,}")
        if self.arrivals is not None and not 0 < self.arrivals < math.inf:
            raise UserError(f"the arrival rate of users must be over 0, not {self.arrivals:g}")
        least, most = self.think_s
        if not 0 <= least <= most <= LONGEST_THINK_S:  # false also for NaN
            raise UserError(
                f"the think time must be from 0 to {LONGEST_THINK_S:,.0f} s, shortest first, not {least:g} to {most:g}"
            )

    @property
    def stay(self) -> bool:
        """Whether users repeat the journey."""
        return self.users is not None

    def as_many(self, rate: float) -> Users:
        """Return the same users, with another number of users or another arrival rate."""
        if self.stay:
            return dataclasses.replace(self, users=round(rate))
        return dataclasses.replace(self, arrivals=rate)

    def starts(self, ramp_s: float, hold_s: float, seed: int) -> list[tuple[int, float]]:
        """Return each user's number and arrival time in seconds after the start.

        A fixed number of users arrive at equal intervals during the ramp. New users arrive at a constant rate during
        the ramp and the load.

        Raises:
            UserError: If there are too many users.
        """
        if self.users is not None:
            return [(number, ramp_s * number / self.users) for number in range(self.users)]
        assert self.arrivals is not None
        if self.arrivals * (ramp_s + hold_s) > MAX_ARRIVALS:
            raise UserError(f"{self.arrivals:g} users/s for {ramp_s + hold_s:g} s are more than {MAX_ARRIVALS:,} users")
        # If the number of arrivals is known, the arrivals of a Poisson process are uniform. The number depends only on
        # the rate and the lengths of the ramp and the load, so that all trials have the same number.
        chance = random.Random(f"{seed} arrivals")
        moments = [
            *sorted(chance.uniform(0, ramp_s) for _ in range(round(self.arrivals * ramp_s))),
            *sorted(ramp_s + chance.uniform(0, hold_s) for _ in range(round(self.arrivals * hold_s))),
        ]
        return list(enumerate(moments))
