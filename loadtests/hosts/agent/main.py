"""Answer the client's calls on standard input and output: ``python -m loadtests.hosts.agent.main SECONDS``.

Only one agent runs on a machine at a time. A new agent waits up to SECONDS for the previous agent to end. When standard
input closes, or receives nothing for a while, the agent stops everything that it started, and exits. If the agent is
killed, the guards stop its processes (``loadtests.cleanup.guard``).
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
