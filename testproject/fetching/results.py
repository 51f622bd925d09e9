"""Define the results of a fetch for all clients, without Django."""

import dataclasses
from typing import ClassVar


@dataclasses.dataclass(frozen=True)
class Fetched:
    """An answer from the origin."""

    status: int
    content_type: str
    body: bytes


class FetchError(Exception):
    """A fetch without an answer: the ``status`` for the view's client, the ``kind`` of failure, and the reason."""

    status: ClassVar[int]
    kind: ClassVar[str]
    message: ClassVar[str] = ""

    def __str__(self) -> str:
        return super().__str__() or self.message


class NotInTime(FetchError):
    """The origin accepted the connection and didn't answer in time."""

    status, kind = 504, "timeout"
    message = "the origin did not answer within FETCH_TIMEOUT"


class Exhausted(FetchError):
    """No connection of the pool became free in time."""

    status, kind = 503, "exhausted"
    message = "no connection of the pool was free within FETCH_TIMEOUT"


class Failed(FetchError):
    """The client couldn't connect, or the connection broke."""

    status, kind = 502, "failed"
    message = "the connection to the origin failed or broke"


class Refused(FetchError):
    """The circuit breaker is open, so the origin receives no request."""

    status, kind = 503, "open"
    message = "the circuit breaker is open"


class NoOrigin(FetchError):
    """No origin is configured, or the origin isn't running yet."""

    status, kind = 503, "no-origin"


class Misfit(FetchError):
    """The configured client doesn't work in this kind of view."""

    status, kind = 500, "misfit"
