"""What a front and a worker say to each other, and on which channels.

    front  -> REQUESTS        Request       the scope and the first bytes of the body; any worker takes it
    front  -> body channel    BodyPart      the rest of a large body; a channel for one request
    worker -> reply channel   ReplyPart     the answer; one channel for each front
    front  -> WORKERS group   Abandoned     nobody waits for this answer any more

The values are those that msgpack carries, so tuples arrive as lists.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

REQUESTS = "http.request"
REPLIES = "http.response"  # the prefix of reply channels
CONTROL = "relay.control"  # the prefix of the workers' own channels
WORKERS = "relay.workers"

# Bytes of body in one message. A channel layer need not carry more than 1 MB; Channels 1 used this size.
CHUNK = 512 * 1024

# The server's own objects (state, extensions) stay in its process.
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
    deadline: float  # seconds since the epoch; clocks of fronts and workers must agree
    scope: dict[str, Any]
    body: bytes
    more_body: bool  # the rest comes on the body channel


class BodyPart(TypedDict):
    number: int  # from 0
    body: bytes
    more_body: bool


class ReplyPart(TypedDict):
    id: str  # the request's
    number: int  # from 0
    head: "Head | None"  # in part 0
    body: bytes
    more_body: bool
    broken: bool  # the application failed in mid-answer: no more parts


class Head(TypedDict):
    status: int
    headers: list[tuple[bytes, bytes]]


class Abandoned(TypedDict):
    id: str


def body_channel(request_id: str) -> str:
    """The channel of the rest of a request's body."""
    return f"http.body.{request_id}"


def portable(scope: Mapping[str, Any]) -> dict[str, Any]:
    """What of an ASGI HTTP scope can cross to another process."""
    return {key: scope[key] for key in SCOPE_KEYS if key in scope}


def split(body: bytes) -> list[bytes]:
    """The body in pieces of CHUNK bytes at most; one piece, maybe empty, at least."""
    return [body[start : start + CHUNK] for start in range(0, len(body), CHUNK)] or [b""]


class InOrder:
    """Numbered parts, given out in order and once each.

    A layer whose order follows the clock (channels_redis) swaps messages when the clock is set back, and a
    sender that repeats a message after a connection broke can deliver it twice.
    """

    def __init__(self) -> None:
        self._next = 0
        self._held: dict[int, Any] = {}

    def add(self, part: Any) -> Iterator[Any]:
        """Take a part in; yield those that are now due."""
        if part["number"] >= self._next:
            self._held[part["number"]] = part
        while self._next in self._held:
            due = self._held.pop(self._next)
            self._next += 1
            yield due

    @property
    def gap(self) -> str | None:
        """What is missing, in words, if later parts are held back for it."""
        return f"part {self._next} never came" if self._held else None
