"""The processes that the connection to the client takes on this machine."""

from __future__ import annotations

import contextlib
import os

import psutil

from loadtests.observe.processes import Part


def parts() -> list[Part]:
    """This process, and the sshd processes of this connection alone."""
    found = [Part("agent", os.getpid(), charged=False, alone=True)]
    with contextlib.suppress(psutil.Error):
        for parent in psutil.Process().parents():
            # The listener serves all connections.
            if parent.name().startswith("sshd") and "[listener]" not in " ".join(parent.cmdline()):
                found.append(Part("sshd", parent.pid, charged=False, alone=True))
    return found


def ours() -> list[Part]:
    """The same, with all that this process has started."""
    agent, *others = parts()
    return [Part(agent.role, agent.pid, charged=False), *others]
