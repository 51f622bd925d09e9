"""What passes over one SSH connection: frames, each a line that says how long it is and then so many bytes of JSON."""

from __future__ import annotations

import os
import re
import select
import time
from typing import Any

import msgspec

HEADER = re.compile(rb"frame ([0-9]{1,9})\n")
LONGEST_HEADER = 16
MOST_BYTES = 64 * 2**20
READ_BYTES = 2**16
MOST_SHOWN = 100  # bytes of what is no frame

# The client says so often that it is there; an agent that hears nothing for so long ends everything. The client's ssh
# asks likewise (ssh_config(5), ServerAliveInterval), and gives up after as long.
BEAT_S = 2.0
ALIVE_INTERVAL_S, ALIVE_COUNT = 3, 3
SILENCE_S = float(ALIVE_INTERVAL_S * (ALIVE_COUNT + 1))

BEAT = 0  # the number of a question that wants no answer


class NoFrame(Exception):
    """Something else came where a frame was to begin; its text is what came."""


class AgentCall(msgspec.Struct, frozen=True):
    """What the client asks: the name of a method of the agent's, and its arguments by name."""

    number: int
    asked: str = ""
    values: dict[str, Any] = {}


class AgentReply(msgspec.Struct, frozen=True):
    """The answer to the question of that number: a value, or what the user can put right, in one line (``error``), or a
    defect of the agent's (``defect``)."""

    number: int
    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None
    defect: str | None = None


def frame(message: AgentCall | AgentReply) -> bytes:
    """A message as it goes over the wire."""
    body = msgspec.json.encode(message)
    return b"frame %d\n%s" % (len(body), body)


class Frames:
    """Reads frames from a file descriptor, each within a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = b""

    def next(self, within_s: float) -> bytes:
        """The body of the next frame. Raises EOFError where the other side is gone, TimeoutError, and NoFrame."""
        end = time.monotonic() + within_s
        while (newline := self._read.find(b"\n", 0, LONGEST_HEADER)) < 0:
            if len(self._read) >= LONGEST_HEADER:
                raise NoFrame(self._shown())
            self._more(end)
        header = HEADER.fullmatch(self._read[: newline + 1])
        if header is None or int(header[1]) > MOST_BYTES:
            raise NoFrame(self._shown())
        begin, length = newline + 1, int(header[1])
        while len(self._read) < begin + length:
            self._more(end)
        body, self._read = self._read[begin : begin + length], self._read[begin + length :]
        return body

    def _shown(self) -> str:
        """The first line of what came instead."""
        return self._read[:MOST_SHOWN].decode(errors="replace").strip().partition("\n")[0]

    def _more(self, end: float) -> None:
        readable, _, _ = select.select([self._descriptor], [], [], max(0.0, end - time.monotonic()))
        if not readable:
            raise TimeoutError
        read = os.read(self._descriptor, READ_BYTES)
        if not read:
            raise EOFError
        self._read += read
