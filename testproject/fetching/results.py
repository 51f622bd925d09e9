"""The results of a fetch, for every client. No Django in here."""

import dataclasses
from typing import ClassVar


@dataclasses.dataclass(frozen=True)
class Fetched:
    """The origin's answer."""

    status: int
    content_type: str
    body: bytes


class FetchError(Exception):
    """A fetch without an answer: the ``status`` for our client, the ``kind`` of failure, and the reason in words."""

    status: ClassVar[int]
    kind: ClassVar[str]
    message: ClassVar[str] = ""

    def __str__(self) -> str:
        return super().__str__() or self.message


class NotInTime(FetchError):
    """The origin had a connection, and did not answer in time."""

    status, kind = 504, "timeout"
    message = "the origin did not answer within FETCH_TIMEOUT"


class Exhausted(FetchError):
    """No connection of the pool became free in time."""

    status, kind = 503, "exhausted"
    message = "no connection of the pool was free within FETCH_TIMEOUT"


class Failed(FetchError):
    """No connection, or one that broke."""

    status, kind = 502, "failed"
    message = "no connection to the origin, or it broke"


class Refused(FetchError):
    """The circuit breaker is open: the origin was not asked."""

    status, kind = 503, "open"
    message = "the circuit breaker is open"


class NoOrigin(FetchError):
    """No origin is configured, or it is not up yet."""

    status, kind = 503, "no-origin"


class Misfit(FetchError):
    """The chosen client is not for this kind of view."""

    status, kind = 500, "misfit"
