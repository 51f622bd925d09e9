"""Describe the requests of a load, and mixes and recordings of requests."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from loadtests import files
from loadtests.errors import UserError, shown_end
from loadtests.records.bounds import Count

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Headers about the connection or the framing of a message, which the sender sets.
SENDERS_OWN = {
    "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade",
}  # fmt: skip
HEAVIEST = 1e12
MAX_REQUESTS = 500  # maximum number, because each request has a histogram in every trial
MAX_RECORDED = 100_000  # maximum number of sends in a replay, because run.json contains them

MAX_BODY_BYTES = 32_000_000  # the maximum in a workload, because run.json contains bodies that aren't in files

TICKET = "$TICKET"
PATH = re.compile(r"/[\x21\x22\x24-\x7e]*")  # without a fragment, because clients never send fragments
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")  # RFC 9110, 5.5


@dataclasses.dataclass(frozen=True)
class BodyFile:
    """The path, size and digest of a file that contains a body. run.json contains these values instead of the body."""

    path: str
    size: Count
    sha256: str


@dataclasses.dataclass(frozen=True)
class Request:
    """A request as it is sent, and the expected answer.

    Args:
        name: The name in reports, which is unique in a workload.
        method: The HTTP method, such as GET.
        path: The percent-encoded path with the query string.
        headers: Pairs of names and values. Names may repeat.
        body: The body to send, or None to send no body.
        weight: The frequency of the request, relative to the other requests of the workload.
        status: The expected status.
        body_file: The file that contains the ``body``, which isn't stored in the run folder in that case.
        closes: Whether the request uses a separate connection, which closes after the answer.
        ticket: The request for ``$TICKET`` in the path: a method, a path, and the ticket's place in the answer's JSON
            object. WebSockets and event streams send this request for each connection.

    Raises:
        UserError: If a value isn't valid.
    """

    name: str
    method: str = "GET"
    path: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    weight: float = 1.0
    status: int = 200
    body_file: BodyFile | None = None
    closes: bool = False
    ticket: str = ""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UserError(f"method: must be one of {', '.join(METHODS)}, not {self.method!r}")
        if not self.path.startswith("/"):
            raise UserError(f"path: must start with '/', not {self.path!r}")
        if not PATH.fullmatch(self.path):
            raise UserError(f"path: {self.path!r} must be percent-encoded, without a fragment (#)")
        # Check the name after the fields that may be a part of it, so that the error is about the right field.
        if not self.name or not self.name.isprintable():
            raise UserError(f"name: must be a line of text, not {self.name!r}")
        if sum(name.lower() == "host" for name, _ in self.headers) > 1:
            raise UserError("headers: Host occurs twice. Leave one out")
        for name, value in self.headers:
            if not _TOKEN.fullmatch(name):
                raise UserError(f"headers: {name!r} is not a valid header name")
            if name.lower() in SENDERS_OWN:
                raise UserError(f"headers: {name} is set by the load generator. Leave it out")
            if not _VALUE.fullmatch(value):
                raise UserError(f"headers: {name}: its value is not a line of Latin-1 text")
        if not 0 < self.weight <= HEAVIEST:  # false also for NaN
            raise UserError(f"weight: must be a number above 0 and at most {HEAVIEST:g}, not {self.weight:g}")
        if not 200 <= self.status <= 599:
            raise UserError(f"status: must be a final status from 200 to 599, not {self.status}")
        if self.ticket and re.fullmatch(r"(GET|POST) /\S* \.[\w.-]+", self.ticket) is None:
            raise UserError(f"--ticket: must look like 'POST /tickets/ .ticket', not {self.ticket!r}")

    def with_file(self, path: Path) -> Request:
        """Return the request with the content of a file as its body.

        Raises:
            UserError: If the file can't be read.
        """
        try:
            body = files.read(path, MAX_BODY_BYTES)
        except OSError as error:
            raise UserError(f"{shown_end(str(path))} cannot be read: {error.strerror}") from None
        kept = BodyFile(str(path), len(body), hashlib.sha256(body).hexdigest())
        return dataclasses.replace(self, body=body, body_file=kept)

    def with_body(self) -> Request:
        """Return a request from a run folder, with the body from its file.

        Raises:
            UserError: If the file has changed since the start of the run.
        """
        if self.body_file is None:
            return self
        found = self.with_file(Path(self.body_file.path))
        if found.body_file != self.body_file:
            raise UserError(f"{shown_end(self.body_file.path)} has changed since the start of the run. Start a new run")
        return found

    @property
    def has_cookie(self) -> bool:
        return any(name.lower() == "cookie" for name, _ in self.headers)

    def with_cookie(self, cookie: str) -> Request:
        """Return the request with a cookie, unless it already has a cookie."""
        return self if self.has_cookie else dataclasses.replace(self, headers=(*self.headers, ("Cookie", cookie)))

    @property
    def identity(self) -> Request:
        """The request without the path of its body's file, to compare requests."""
        if self.body_file is None:
            return self
        return dataclasses.replace(self, body=None, body_file=dataclasses.replace(self.body_file, path=""))

    def to_dict(self) -> dict[str, Any]:
        """Convert the request to a dict for JSON. A body that isn't UTF-8 is in ``body_base64``.

        The body of a file is left out.
        """
        values = {**dataclasses.asdict(self), "headers": [list(pair) for pair in self.headers]}
        of_file = values.pop("body_file")
        kept = {"body_file": of_file} if of_file else encoded(self.body)
        for name in ("closes", "ticket"):
            if not values[name]:
                del values[name]  # so that requests without this feature have the same digest as in older runs
        return {**values, "body": None, "body_base64": None, **kept}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Request:
        """Create a request from values that ``to_dict`` has returned.

        Raises:
            ValueError: If a value isn't valid.
            KeyError: If a value is missing.
            UserError: If the request isn't valid.
        """
        left = dict(values)
        text, in_base64 = (msgspec.convert(left.pop(key), str | None) for key in ("body", "body_base64"))
        body = None if text is None else text.encode()
        if in_base64 is not None:
            body = base64.b64decode(in_base64)
        return dataclasses.replace(msgspec.convert({**left, "body": None}, cls), body=body)


def header_pairs(headers: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Split the values of the option ``--header``, such as ``X-Token: abc``.

    Raises:
        UserError: If a header isn't valid. The message doesn't contain a header without a colon, because it may be a
            password.
    """
    parts = [header.partition(":") for header in headers]
    if not all(colon for _, colon, _ in parts):
        raise UserError("--header: write a name, a colon and a value: 'X-Token: abc'")
    pairs = tuple((name.strip(), value.strip()) for name, _, value in parts)
    try:
        return Request("header", headers=pairs).headers
    except UserError as error:
        raise UserError(f"--header: {str(error).removeprefix('headers: ')}") from None


def encoded(body: bytes | None) -> dict[str, str]:
    """Return a body for a text file: ``body`` if it is UTF-8, or else ``body_base64``."""
    if body is None:
        return {}
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode("ascii")}


@dataclasses.dataclass(frozen=True)
class Workload:
    """Requests in a mix by weight, or with their recorded times if ``at`` isn't empty.

    ``at`` contains the times of each request, in seconds after the recording's start.

    Raises:
        UserError: If the workload is empty or too large, or two requests have the same name.
    """

    requests: tuple[Request, ...]
    at: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.requests:
            raise UserError("requests: must contain at least one request")
        if len(self.requests) > MAX_REQUESTS:
            raise UserError(f"requests: must contain at most {MAX_REQUESTS:,} requests, not {len(self.requests):,}")
        size = sum(len(request.body or b"") for request in self.requests)
        if size > MAX_BODY_BYTES:
            allowed = f"{MAX_BODY_BYTES / 1e6:g} MB are allowed"
            raise UserError(f"requests: the bodies are {size / 1e6:,.1f} MB in all. At most {allowed}")
        names = [request.name for request in self.requests]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UserError(f"requests: two requests have the name {twice!r}. Rename one of them")
        if not self.at:
            return
        if len(self.at) != len(self.requests) or not all(self.at):
            raise UserError("requests: all requests or none must have recorded times. Add or remove times")
        times = [time for times in self.at for time in times]
        if len(times) > MAX_RECORDED:
            raise UserError(f"requests: {len(times):,} were recorded. At most {MAX_RECORDED:,} can be replayed")
        if not all(math.isfinite(time) and time >= 0 for time in times):
            raise UserError("requests: at: the times are seconds after the start of the recording, 0 or more")

    def replay(self, speed: float = 1.0) -> Replay:
        """Return the recording at a multiple of its speed.

        Raises:
            UserError: If the workload contains no times, or the speed isn't above 0.
        """
        if not self.at:
            raise UserError("it was not recorded: its requests have no times (at)")
        if not (math.isfinite(speed) and speed > 0):
            raise UserError(f"speed: must be a number above 0, not {speed:g}")
        first = min(map(min, self.at))
        sends = sorted((time - first, index) for index, times in enumerate(self.at) for time in times)
        return Replay(tuple((round(time / speed, 6), index) for time, index in sends))


@dataclasses.dataclass(frozen=True)
class Replay:
    """A recording as a sorted list of sends, each with a due time in seconds (the first is 0) and a request's index."""

    sends: tuple[tuple[float, int], ...]

    @property
    def duration_s(self) -> float:
        """The time from the first send to one mean gap after the last send, in seconds, but at least 1 s."""
        count = len(self.sends)
        return max(1.0, self.sends[-1][0] * count / max(count - 1, 1))

    @property
    def rate(self) -> float:
        """The mean rate, in requests per second."""
        return len(self.sends) / self.duration_s
