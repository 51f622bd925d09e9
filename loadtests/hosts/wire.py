"""Messages over one SSH connection, each a line of JSON."""

from __future__ import annotations

import dataclasses
import os
import select
import time
from typing import Any, TypeVar

import msgspec

from loadtests.observe.processes import Part

T = TypeVar("T")

MOST_BYTES = 64 * 2**20
READ_BYTES = 2**16
MOST_SHOWN = 100  # bytes of what is no message

# The client says every BEAT_S that it is there; an agent that hears nothing for SILENCE_S ends everything. The client's
# ssh gives up after as long (ssh_config(5), ServerAliveInterval).
BEAT_S = 2.0
ALIVE_INTERVAL_S, ALIVE_COUNT = 3, 3
SILENCE_S = float(ALIVE_INTERVAL_S * (ALIVE_COUNT + 1))

BEAT = 0  # the number of a call without an answer


class NotAMessage(Exception):
    """Something else came where a message was expected; the text is its first line."""


class AgentCall(msgspec.Struct, frozen=True):
    """A method of the agent, and its arguments by name."""

    number: int
    method: str = ""
    arguments: dict[str, Any] = {}


class AgentReply(msgspec.Struct, frozen=True):
    """The answer to the call of that number: a value, an ``error`` that the user can put right, or a ``defect`` (the
    agent's traceback)."""

    number: int
    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    defect: str | None = None


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


def write(descriptor: int, message: AgentCall | AgentReply) -> None:
    """Writes a message as a whole. Raises OSError."""
    left = memoryview(msgspec.json.encode(message) + b"\n")
    while left:
        left = left[os.write(descriptor, left) :]


class MessageReader:
    """Reads messages from a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = b""

    def next(self, kind: type[T], within_s: float) -> T:
        """The next message. Raises EOFError where the other side is gone, TimeoutError and NotAMessage."""
        end = time.monotonic() + within_s
        while (newline := self._read.find(b"\n")) < 0:
            if len(self._read) > MOST_BYTES:
                raise NotAMessage(_shown(self._read))
            readable, _, _ = select.select([self._descriptor], [], [], max(0.0, end - time.monotonic()))
            if not readable:
                raise TimeoutError
            data = os.read(self._descriptor, READ_BYTES)
            if not data:
                raise EOFError
            self._read += data
        line, self._read = self._read[:newline], self._read[newline + 1 :]
        try:
            return msgspec.json.decode(line, type=kind)
        except msgspec.MsgspecError:
            raise NotAMessage(_shown(line)) from None


def _shown(text: bytes) -> str:
    return text[:MOST_SHOWN].decode(errors="replace").strip()
