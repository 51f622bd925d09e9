"""The steps of a journey, and who is told of them. Times are seconds of ``time.monotonic``."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, eq=False)
class Step:
    """A request of a user: the name of its route, its method, when the user was ``ready`` for it, and when it was
    ``sent``."""

    route: str
    method: str
    ready: float
    sent: float


class BrokenOff(Exception):
    """A user met what should not be, and leaves. ``kind`` is a kind of failure, as results have them
    (``loadtests.records.result.ERROR_KINDS``)."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class Left(Exception):
    """The time is over, and the user goes in the middle of a journey."""


class Observer:
    """Is told what users do. This one keeps nothing."""

    def begins(self, due: float) -> None:
        """A journey begins that was to begin at ``due``."""

    def thinks(self, begin: float, end: float) -> None:
        """A user thinks from one moment to another, the latter maybe yet to come."""

    def sent(self, step: Step) -> None:
        """A request was sent."""

    def answered(self, step: Step, at: float, failure: BrokenOff | None) -> None:
        """It was answered, or failed."""

    def ended(self, due: float, at: float, failure: BrokenOff | None) -> None:
        """A journey that was to begin at ``due`` was completed, or broken off."""
