"""Answers questions that come as frames, one after the other, until the client is gone."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
import traceback

import msgspec

from loadtests.errors import NO_ROOM, UserError
from loadtests.hosts import wire
from loadtests.hosts.agent.calls import AgentCalls

GIVEN_UP_S = 20.0  # after which what has not been ended in good order is left to the guards, which end all at once


class ClientGone(BaseException):
    """The client closed the connection, died, or is out of reach."""


class Answering:
    """Reads from one file descriptor and writes to another. Once the client is gone, ClientGone is raised in the main
    thread, whatever it is doing."""

    def __init__(self, questions_from: int, answers_to: int) -> None:
        self._frames = wire.Frames(questions_from)
        self._answers_to = answers_to
        self._asked: queue.SimpleQueue[wire.AgentCall] = queue.SimpleQueue()

    def begin(self) -> None:
        """From now on it is seen whether the client is there."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _gone)
        threading.Thread(target=self._read, daemon=True).start()

    def say(self, reply: wire.AgentReply) -> None:
        """Sends an answer, or the greeting, which has the number of no question. Raises ClientGone."""
        left = memoryview(wire.frame(reply))
        try:
            while left:
                left = left[os.write(self._answers_to, left) :]
        except OSError:
            raise ClientGone from None

    def answer(self, questions: AgentCalls) -> None:
        """Answers until the client is gone, which raises ClientGone."""
        while True:
            question = self._asked.get()
            self.say(_answered(questions, question))

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError, wire.NoFrame, msgspec.MsgspecError):
            while True:
                question = msgspec.json.decode(self._frames.next(wire.SILENCE_S), type=wire.AgentCall)
                if question.number != wire.BEAT:
                    self._asked.put(question)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GIVEN_UP_S)
        os._exit(1)


def _answered(questions: AgentCalls, question: wire.AgentCall) -> wire.AgentReply:
    try:
        if question.asked.startswith("_"):
            raise UserError(f"there is no question {question.asked!r}")
        value = getattr(questions, question.asked)(**question.values)
        return wire.AgentReply(question.number, msgspec.Raw(msgspec.json.encode(value)))
    except UserError as error:
        return wire.AgentReply(question.number, error=str(error))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return wire.AgentReply(
                question.number, error=f"cannot write {error.filename or 'a file'}: {error.strerror}"
            )
        return wire.AgentReply(question.number, defect=traceback.format_exc())


def _gone(number: int, frame: object) -> None:
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    raise ClientGone
