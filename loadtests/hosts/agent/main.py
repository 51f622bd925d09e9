"""Answer the client's calls on standard input and output: ``python -m loadtests.hosts.agent.main SECONDS``.

Only one agent runs on a machine at a time. A new agent waits up to SECONDS for the previous agent to end. When standard
input closes, or receives nothing for a while, the agent stops everything that it started, and exits. If the agent is
killed, the guards stop its processes (``loadtests.cleanup.guard``).
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
import traceback

import msgspec

from loadtests.errors import NO_ROOM, UserError
from loadtests.hosts import wire
from loadtests.hosts.agent.calls import AgentCalls, value_of
from loadtests.hosts.agent.lock import exclusive

GIVEN_UP_S = 20.0  # If stopping takes longer, the process exits, and the guards end its children.
MAX_WAITING = 16  # The maximum number of queued calls. A client sends only one call at a time.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class ClientGone(BaseException):
    """The client closed the connection, died, or can't be reached."""


class Answering:
    """Read calls from one file descriptor, and write answers to another.

    When the client is gone, ClientGone is raised in the main thread, even in the middle of a call.
    """

    def __init__(self, calls_from: int, answers_to: int) -> None:
        self._reader = wire.MessageReader(calls_from)
        self._answers_to = answers_to
        self._calls: queue.SimpleQueue[wire.AgentCall] = queue.SimpleQueue()

    def begin(self) -> None:
        """Start a thread that reads calls and watches the client."""
        for number in SIGNALS:
            signal.signal(number, _gone)
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, reply: wire.AgentReply) -> None:
        """Send an answer, or the greeting, whose number is BEAT.

        Raises:
            ClientGone: If the client is gone.
        """
        try:
            wire.write(self._answers_to, reply)
        except OSError:
            raise ClientGone from None

    def answer(self, calls: AgentCalls) -> None:
        """Answer calls until the client is gone, and then raise ClientGone."""
        while True:
            self.send(_answered(calls, self._calls.get()))

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError, wire.NotAMessage):
            while self._calls.qsize() < MAX_WAITING:
                call = self._reader.next(wire.AgentCall, wire.SILENCE_S)
                if call.number != wire.BEAT:
                    self._calls.put(call)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GIVEN_UP_S)
        os._exit(1)


def _answered(calls: AgentCalls, call: wire.AgentCall) -> wire.AgentReply:
    try:
        value = value_of(calls, call.method, call.arguments)
        return wire.AgentReply(call.number, msgspec.to_builtins(value, str_keys=True))
    except UserError as error:
        return wire.AgentReply(call.number, error=str(error))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return wire.AgentReply(call.number, error=f"cannot write {error.filename or 'a file'}: {error.strerror}")
        traceback.print_exc()
        return wire.AgentReply(call.number, error=f"{call.method} failed: {type(error).__name__}: {error}")


def _gone(number: int, frame: object) -> None:
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    raise ClientGone


def main(free_within_s: float) -> None:
    """Answer the client's calls until the client is gone."""
    answers_to = os.dup(1)
    os.dup2(2, 1)  # other output would break the messages
    answering = Answering(0, answers_to)
    with contextlib.suppress(ClientGone):
        answering.begin()
        try:
            with exclusive(free_within_s), contextlib.closing(AgentCalls()) as calls:
                answering.send(wire.AgentReply(wire.BEAT))
                answering.answer(calls)
        except UserError as error:
            answering.send(wire.AgentReply(wire.BEAT, error=str(error)))


if __name__ == "__main__":
    main(float(sys.argv[1]))
