"""The steps of a journey, and who is told of them. Times are seconds of ``time.monotonic``."""

from __future__ import annotations

import dataclasses

from loadtests.records.result import ERROR_KINDS


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
    (``loadtests.records.result.ERROR_KINDS``). Raises ValueError for another: no result would count it."""

    def __init__(self, kind: str, text: str) -> None:
        if kind not in ERROR_KINDS:
            raise ValueError(f"{kind!r} is no kind of failure; known are {', '.join(ERROR_KINDS)}")
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class Left(BaseException):
    """The time is over, and the user goes in the middle of a journey. It is no Exception: a journey that goes on after
    any of these would go on for ever."""


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
