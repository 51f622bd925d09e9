"""Messages over one SSH connection, each a line of JSON. What comes from the other side is foreign data: it is bounded,
has the type that is expected, and no character that a terminal obeys."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import select
import time
from collections import deque
from typing import Annotated, Any, TypeVar

import msgspec

from loadtests.errors import shown
from loadtests.formatting import printable
from loadtests.observe.processes import Part

T = TypeVar("T")

MOST_BYTES = 16 * 2**20  # of a line
READ_BYTES = 2**16
MOST_SHOWN = 100  # bytes of what is no message
MOST_NUMBER = 2**53  # above it JSON's numbers are not exact (RFC 7493, 2.2)

# The client says every BEAT_S that it is there; an agent that hears nothing for SILENCE_S ends everything. The client's
# ssh gives up after as long (ssh_config(5), ServerAliveInterval).
BEAT_S = 2.0
ALIVE_INTERVAL_S, ALIVE_COUNT = 3, 3
SILENCE_S = float(ALIVE_INTERVAL_S * (ALIVE_COUNT + 1))

BEAT = 0  # the number of a call without an answer


class NotAMessage(Exception):
    """Something else came where a message was expected; the text is its beginning, or what is wrong with it."""


class AgentCall(msgspec.Struct, frozen=True):
    """A method of the agent, and its arguments by name."""

    number: Annotated[int, msgspec.Meta(ge=0, le=MOST_NUMBER)]
    method: str = ""
    arguments: dict[str, Any] = {}


class AgentReply(msgspec.Struct, frozen=True):
    """The answer to the call of that number: a value, or an ``error``."""

    number: int
    value: Any = None
    error: str | None = None


@dataclasses.dataclass(frozen=True)
class AgentFacts:
    """An agent and its machine: the marker's token, revision and files (SHA-256 by path), where SSH came from and to,
    the machine's identity since its boot, its Python, and the processes of the connection."""

    token: str
    revision: str | None
    dirty: bool | None
    files: dict[str, str]
    client: str
    address: str
    ipv4: str | None
    boot: str
    python: str
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        for address in (self.client, self.address, self.ipv4 or self.address):
            ipaddress.ip_address(address)


def write(descriptor: int, message: AgentCall | AgentReply | dict[str, Any]) -> None:
    """Writes a message as a whole. Raises OSError."""
    left = memoryview(msgspec.json.encode(message) + b"\n")
    while left:
        left = left[os.write(descriptor, left) :]


class Lines:
    """The lines of what comes in pieces, of at most ``most`` bytes each."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []  # of the line that is not over
        self._size = 0

    def add(self, data: bytes) -> list[bytes]:
        """The lines that are over now. Raises NotAMessage for a longer one."""
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._pieces, whole[0]])
            self._pieces, self._size = [], 0
        self._pieces.append(rest)
        self._size += len(rest)
        if self._size > self._most:
            raise NotAMessage(f"a line of over {self._most // 2**20} MB")
        return whole


class MessageReader:
    """Reads messages from a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._partial = Lines()
        self._lines: deque[bytes] = deque()

    def next(self, kind: type[T], within_s: float) -> T:
        """The next message. Raises EOFError where the other side is gone, TimeoutError and NotAMessage."""
        end = time.monotonic() + within_s
        while not self._lines:
            readable, _, _ = select.select([self._descriptor], [], [], max(0.0, end - time.monotonic()))
            if not readable:
                raise TimeoutError
            data = os.read(self._descriptor, READ_BYTES)
            if not data:
                raise EOFError
            self._lines.extend(self._partial.add(data))
            if not self._lines and time.monotonic() > end:  # a byte now and then is no message in time
                raise TimeoutError
        return typed(parsed(self._lines.popleft()), kind)


def parsed(line: bytes) -> Any:
    """The JSON of a line, printable. Raises NotAMessage."""
    try:
        return _printable(msgspec.json.decode(line))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise NotAMessage(shown(line[:MOST_SHOWN].decode(errors="replace").strip())) from None


def typed(value: Any, kind: type[T]) -> T:
    """A value that was parsed, as its type. Raises NotAMessage, with what is wrong."""
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NotAMessage(shown(str(error))) from None


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(one) for one in value]
    if isinstance(value, dict):
        return {printable(name): _printable(one) for name, one in value.items()}
    if isinstance(value, (int, float)) and abs(value) > MOST_NUMBER:
        raise ValueError
    return value
