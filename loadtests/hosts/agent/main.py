"""``python -m loadtests.hosts.agent.main SECONDS``: answers what comes over standard input, on standard output.

It waits so many seconds for another agent, whose client is gone, to have ended what it started: there is one at a time.
When its standard input closes, or nothing comes over it for a while (the client says now and then that it is there),
it ends all that it started, and itself. Should it be killed, the guards of what it started end that
(``loadtests.cleanup.guard``).
"""

from __future__ import annotations

import contextlib
import os
import sys

from loadtests.errors import UserError
from loadtests.hosts import wire
from loadtests.hosts.agent.answering import Answering, ClientGone
from loadtests.hosts.agent.calls import AgentCalls
from loadtests.hosts.agent.lock import exclusive


def main(free_within_s: float) -> None:
    """Answers until the client is gone."""
    # What anything else prints is none of the conversation.
    answers_to = os.dup(1)
    os.dup2(2, 1)
    answering = Answering(0, answers_to)
    with contextlib.suppress(ClientGone):
        answering.begin()
        try:
            with exclusive(free_within_s), contextlib.closing(AgentCalls()) as questions:
                answering.say(wire.AgentReply(wire.BEAT))
                answering.answer(questions)
        except UserError as error:
            answering.say(wire.AgentReply(wire.BEAT, error=str(error)))


if __name__ == "__main__":
    main(float(sys.argv[1]))
