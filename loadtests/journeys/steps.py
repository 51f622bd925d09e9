"""The steps of a journey, and who observes them. Times are seconds of ``time.monotonic``."""

from __future__ import annotations

import dataclasses

from loadtests.records.result import ERROR_KINDS


@dataclasses.dataclass(frozen=True, eq=False)
class Step:
    """A request of a user: its route and method, when the user was ``ready`` for it, and when it was ``sent``."""

    route: str
    method: str
    ready: float
    sent: float


class BrokenOff(Exception):
    """A request failed, and the user leaves. ``kind`` is one of ``loadtests.records.result.ERROR_KINDS``. Raises
    ValueError for another: no result would count it."""

    def __init__(self, kind: str, text: str) -> None:
        if kind not in ERROR_KINDS:
            raise ValueError(f"{kind!r} is no kind of failure; known are {', '.join(ERROR_KINDS)}")
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class Left(BaseException):
    """The time is over in the middle of a journey. It is no Exception: a journey that catches all of these must end."""


class Observer:
    """Observes what users do. This one keeps nothing."""

    def begins(self, due: float) -> None:
        """A journey begins, which was due at ``due``."""

    def thinks(self, begin: float, end: float) -> None:
        """A user thinks from one moment to another, which may be in the future."""

    def sent(self, step: Step) -> None:
        """A request was sent."""

    def answered(self, step: Step, at: float, failure: BrokenOff | None) -> None:
        """It was answered, or failed."""

    def ended(self, due: float, at: float, failure: BrokenOff | None) -> None:
        """The journey due at ``due`` was completed, or broken off."""
