"""Exchange messages over an SSH connection. Each message is a line of JSON.

Data from the other side isn't trusted. It must have a limited size and the expected type, and must not contain terminal
commands.
"""

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

MAX_BYTES = 16 * 2**20  # the maximum size of a line
READ_BYTES = 2**16
MAX_SHOWN = 100  # Errors show at most this many bytes of an invalid message.
MAX_NUMBER = 2**53  # Larger JSON numbers aren't exact (RFC 7493, 2.2).

# The client sends a message every BEAT_S. An agent that receives nothing for SILENCE_S stops all its processes. The
# client's ssh also gives up after this time (ssh_config(5), ServerAliveInterval).
BEAT_S = 2.0
ALIVE_INTERVAL_S, ALIVE_COUNT = 3, 3
SILENCE_S = float(ALIVE_INTERVAL_S * (ALIVE_COUNT + 1))

BEAT = 0  # the number of a call that needs no answer


class NotAMessage(Exception):
    """Received data isn't a valid message. The text is the start of the data, or the problem."""


class AgentCall(msgspec.Struct, frozen=True):
    """A call of one of the agent's methods, with the arguments by name."""

    number: Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]
    method: str = ""
    arguments: dict[str, Any] = {}


class AgentReply(msgspec.Struct, frozen=True):
    """The answer to the call with the same number: a value or an ``error``."""

    number: int
    value: Any = None
    error: str | None = None


@dataclasses.dataclass(frozen=True)
class AgentFacts:
    """Facts about an agent and its machine.

    Args:
        token: The token in the marker.
        revision: The revision in the marker.
        dirty: Whether there were uncommitted changes when the machine was prepared.
        files: The SHA-256 of each of the marker's files, by path.
        client: The client's address, as seen by SSH.
        address: The address that SSH connected to.
        boot: An identifier of the machine that changes with each boot.
        python: The version of the agent's Python.
        parts: The processes that serve the connection.
    """

    token: str
    revision: str | None
    dirty: bool | None
    files: dict[str, str]
    client: str
    address: str
    boot: str
    python: str
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        for address in (self.client, self.address):
            ipaddress.ip_address(address)


def write(descriptor: int, message: AgentCall | AgentReply | dict[str, Any]) -> None:
    """Write a complete message.

    Raises:
        OSError: If the other side is gone.
    """
    left = memoryview(msgspec.json.encode(message) + b"\n")
    while left:
        left = left[os.write(descriptor, left) :]


class Lines:
    """Collect lines from pieces of data. A line may contain at most ``most`` bytes."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []  # the pieces of the incomplete line
        self._size = 0

    def add(self, data: bytes) -> list[bytes]:
        """Add data and return the lines that are now complete.

        Raises:
            NotAMessage: If a line is too long.
        """
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._pieces, whole[0]])
            self._pieces, self._size = [], 0
        self._pieces.append(rest)
        self._size += len(rest)
        if self._size > self._most:
            raise NotAMessage(f"a line longer than {self._most // 2**20} MB")
        return whole


class MessageReader:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._partial = Lines()
        self._lines: deque[bytes] = deque()

    def next(self, kind: type[T], within_s: float) -> T:
        """Return the next message.

        Raises:
            EOFError: If the other side is gone.
            TimeoutError: If no message arrives in time.
            NotAMessage: If the line isn't valid.
        """
        end = time.monotonic() + within_s
        while not self._lines:
            readable, _, _ = select.select([self._descriptor], [], [], max(0.0, end - time.monotonic()))
            if not readable:
                raise TimeoutError
            data = os.read(self._descriptor, READ_BYTES)
            if not data:
                raise EOFError
            self._lines.extend(self._partial.add(data))
            if not self._lines and time.monotonic() > end:  # slowly arriving bytes don't extend the time
                raise TimeoutError
        return typed(parsed(self._lines.popleft()), kind)


def parsed(line: bytes) -> Any:
    """Parse a line of JSON, and remove unprintable characters.

    Raises:
        NotAMessage: If the line isn't valid.
    """
    try:
        return _printable(msgspec.json.decode(line))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise NotAMessage(shown(line[:MAX_SHOWN].decode(errors="replace").strip())) from None


def typed(value: Any, kind: type[T]) -> T:
    """Convert a parsed value to a type.

    Raises:
        NotAMessage: If the value doesn't match the type.
    """
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
    if isinstance(value, (int, float)) and abs(value) > MAX_NUMBER:
        raise ValueError
    return value
