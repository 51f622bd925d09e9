"""Users who walk a journey: who they are, how many, and when each of them comes."""

from __future__ import annotations

import dataclasses
import math
import random

from loadtests.errors import UserError
from loadtests.workload.sign_in import SignIn

MOST_USERS = 20_000  # a connection each, and an address has about 28,000 ports for one server
MOST_ARRIVALS = 1_000_000  # in one load
LONGEST_THINK_S = 3600.0


@dataclasses.dataclass(frozen=True)
class Users:
    """Users who walk a ``journey`` (the file that has it) in an application that begins at ``path``.

    A number of ``users`` walks it again and again: a closed loop, in which whoever waits for an answer asks for
    nothing. Or new ones come at a rate (``arrivals`` a second), at random moments, walk it once and leave: whatever the
    answers take, the next ones come. Each thinks for a time between ``think_s``, any as likely as another. Where there
    is a ``sign_in``, whoever begins a journey signs in first.

    Raises UserError where a value makes no sense.
    """

    journey: str
    path: str
    think_s: tuple[float, float]
    users: int | None = None
    arrivals: float | None = None
    sign_in: SignIn | None = None

    def __post_init__(self) -> None:
        if (self.users is None) == (self.arrivals is None):
            raise UserError("a journey has either a number of users or a rate at which new ones come")
        if self.users is not None and not 1 <= self.users <= MOST_USERS:
            raise UserError(f"the number of users must be from 1 to {MOST_USERS:,}, not {self.users:,}")
        if self.arrivals is not None and not 0 < self.arrivals < math.inf:
            raise UserError(f"the rate at which users come must be over 0, not {self.arrivals:g}")
        least, most = self.think_s
        if not 0 <= least <= most <= LONGEST_THINK_S:  # false for NaN as well
            raise UserError(
                f"users think from 0 to {LONGEST_THINK_S:,.0f} s, the least first, not {least:g} to {most:g}"
            )

    @property
    def stay(self) -> bool:
        """Whether they walk again and again."""
        return self.users is not None

    def as_many(self, rate: float) -> Users:
        """The same with another number, or rate, of users."""
        if self.stay:
            return dataclasses.replace(self, users=round(rate))
        return dataclasses.replace(self, arrivals=rate)

    def starts(self, ramp_s: float, hold_s: float, seed: int) -> list[tuple[int, float]]:
        """When each user comes: its number, and seconds after the start. While the load ramps up a number of users come
        one after the other, at even distances; new ones come at their rate all the time.

        Raises UserError where they are too many.
        """
        if self.users is not None:
            return [(number, ramp_s * number / self.users) for number in range(self.users)]
        assert self.arrivals is not None
        if self.arrivals * (ramp_s + hold_s) > MOST_ARRIVALS:
            raise UserError(f"{self.arrivals:g} users a second for {ramp_s + hold_s:g} s are over {MOST_ARRIVALS:,}")
        # Given their number, the arrivals of a Poisson process are uniform: in each part as many as the rate says, so
        # that all trials have as many.
        chance = random.Random(f"{seed} arrivals")
        moments = [
            *sorted(chance.uniform(0, ramp_s) for _ in range(round(self.arrivals * ramp_s))),
            *sorted(ramp_s + chance.uniform(0, hold_s) for _ in range(round(self.arrivals * hold_s))),
        ]
        return list(enumerate(moments))
