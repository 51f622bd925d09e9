"""Define the steps of a journey, and the observers of users. Times are in seconds of ``time.monotonic``."""

from __future__ import annotations

import dataclasses

from loadtests.records.result import ERROR_KINDS


@dataclasses.dataclass(frozen=True, eq=False)
class Step:
    """A user's request: route, method, and the times when the user was ``ready`` and the request was ``sent``."""

    route: str
    method: str
    ready: float
    sent: float


class BrokenOff(Exception):
    """A request failed, and the user leaves. ``kind`` is one of ``loadtests.records.result.ERROR_KINDS``.

    Raises:
        ValueError: If the kind is unknown, because no result would count it.
    """

    def __init__(self, kind: str, text: str) -> None:
        if kind not in ERROR_KINDS:
            raise ValueError(f"{kind!r} is not a kind of failure. Use one of {', '.join(ERROR_KINDS)}")
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.text = text


class Left(BaseException):
    """The load ends in the middle of a journey.

    The class isn't an Exception, so that a journey can't catch it by accident.
    """


class Observer:
    """Observe users. This base class ignores all events."""

    def begins(self, due: float) -> None:
        """Observe the start of a journey that was due at ``due``."""

    def thinks(self, begin: float, end: float) -> None:
        """Observe a user's think time. The end may be in the future."""

    def sent(self, step: Step) -> None:
        """Observe a request that was sent."""

    def answered(self, step: Step, at: float, failure: BrokenOff | None) -> None:
        """Observe a request that was answered or failed."""

    def ended(self, due: float, at: float, failure: BrokenOff | None) -> None:
        """Observe the end of the journey that was due at ``due``."""
