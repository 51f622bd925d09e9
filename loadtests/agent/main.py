"""``python -m loadtests.agent.main SECONDS``: answers what comes over standard input, on standard output.

It waits so many seconds for another agent, whose client is gone, to have ended what it started: there is one at a time.
When its standard input closes, or nothing comes over it for a while (the client says now and then that it is there),
it ends all that it started, and itself. Should it be killed, the guards of what it started end that
(``loadtests.cleanup.guard``).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time

from loadtests.agent.answering import Answering, ClientGone
from loadtests.agent.questions import Questions
from loadtests.errors import UserError
from loadtests.hosts import wire
from loadtests.hosts.link import LOCK
from loadtests.paths import ROOT

LOOK_EVERY_S = 0.2


def main(free_within_s: float) -> None:
    """Answers until the client is gone."""
    # What anything else prints is none of the conversation.
    answers_to = os.dup(1)
    os.dup2(2, 1)
    answering = Answering(0, answers_to)
    with contextlib.suppress(ClientGone):
        answering.begin()
        try:
            with open(ROOT.parent / LOCK, "a") as lock:
                _alone(lock.fileno(), free_within_s)
                with contextlib.closing(Questions()) as questions:
                    answering.say(wire.AgentReply(wire.BEAT))
                    answering.answer(questions)
        except UserError as error:
            answering.say(wire.AgentReply(wire.BEAT, error=str(error)))


def _alone(lock: int, within_s: float) -> None:
    """Waits until no other agent is there, and nothing is prepared. Raises UserError where that takes too long."""
    end = time.monotonic() + within_s
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > end:
            raise UserError("another run, or `hosts prepare`, is going on there; wait for its end")
        time.sleep(LOOK_EVERY_S)


if __name__ == "__main__":
    main(float(sys.argv[1]))
