"""Find the processes on the agent's machine that serve the connection to the client."""

from __future__ import annotations

import contextlib
import os

import psutil

from loadtests.observe.processes import Part


def parts() -> list[Part]:
    """Return the agent and the sshd processes of the agent's connection, each without child processes."""
    found = [Part("agent", os.getpid(), charged=False, alone=True)]
    with contextlib.suppress(psutil.Error):
        for parent in psutil.Process().parents():
            # The listener isn't included, because it serves all connections.
            if parent.name().startswith("sshd") and "[listener]" not in " ".join(parent.cmdline()):
                found.append(Part("sshd", parent.pid, charged=False, alone=True))
    return found


def ours() -> list[Part]:
    """Return the processes in ``parts``, and all child processes of the agent."""
    agent, *others = parts()
    return [Part(agent.role, agent.pid, charged=False), *others]
