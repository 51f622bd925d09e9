"""Define the steps of a journey. Times are in seconds of ``time.monotonic``."""

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


@dataclasses.dataclass(frozen=True)
class Answered:
    """An answer: the status, the body as text, and the path of the redirect (empty if there is no redirect)."""

    status: int
    text: str
    location: str


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
