"""Define the messages between fronts and workers, and their channels.

    front  -> REQUESTS        Request       the scope and the first bytes of the body, for any worker
    front  -> body channel    BodyPart      the rest of a large body, on a channel for this request
    worker -> reply channel   ReplyPart     the answer, on a channel for each front
    front  -> WORKERS group   Abandoned     the client of this request has disconnected

msgpack serializes the values, so tuples arrive as lists.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

REQUESTS = "http.request"
REPLIES = "http.response"  # The prefix of reply channels.
CONTROL = "relay.control"  # The prefix of the channels of single workers.
WORKERS = "relay.workers"

# The bytes of a body in one message, as in Channels 1. Channel layers only have to support messages of 1 MB.
CHUNK = 512 * 1024

# Other keys (state, extensions) contain objects of the server, which can't leave its process.
SCOPE_KEYS = (
    "type",
    "asgi",
    "http_version",
    "method",
    "scheme",
    "path",
    "raw_path",
    "query_string",
    "root_path",
    "headers",
    "client",
    "server",
)


class Request(TypedDict):
    id: str
    reply_channel: str
    deadline: float  # seconds since the epoch, so the clocks of fronts and workers must agree
    scope: dict[str, Any]
    body: bytes
    more_body: bool  # whether the rest of the body follows on the body channel


class BodyPart(TypedDict):
    number: int  # from 0
    body: bytes
    more_body: bool


class ReplyPart(TypedDict):
    id: str  # The id of the request.
    number: int  # Parts are numbered from 0.
    head: "Head | None"  # Only part 0 has a head.
    body: bytes
    more_body: bool
    broken: bool  # whether the answer ends here because the application failed


class Head(TypedDict):
    status: int
    headers: list[tuple[bytes, bytes]]


class Abandoned(TypedDict):
    id: str


def body_channel(request_id: str) -> str:
    """Return the name of the channel for the rest of a request's body."""
    return f"http.body.{request_id}"


def portable(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of an ASGI HTTP scope that another process can use."""
    return {key: scope[key] for key in SCOPE_KEYS if key in scope}


def split(body: bytes) -> list[bytes]:
    """Split a body into pieces of at most CHUNK bytes. An empty body is one empty piece."""
    return [body[start : start + CHUNK] for start in range(0, len(body), CHUNK)] or [b""]


class InOrder:
    """Put numbered parts into order and drop duplicates.

    channels_redis orders messages by the clock, so it swaps messages if the clock is set back. A sender that repeats a
    message after a connection error can deliver it twice.
    """

    def __init__(self) -> None:
        self._next = 0
        self._held: dict[int, Any] = {}

    def add(self, part: Any) -> Iterator[Any]:
        """Add a part, and yield the parts that are now due."""
        if part["number"] >= self._next:
            self._held[part["number"]] = part
        while self._next in self._held:
            due = self._held.pop(self._next)
            self._next += 1
            yield due

    @property
    def gap(self) -> str | None:
        """A description of the missing part if later parts have arrived, or None."""
        return f"part {self._next} never arrived" if self._held else None
