"""The processes on this machine that serve the connection to the client."""

from __future__ import annotations

import contextlib
import os

import psutil

from loadtests.observe.processes import Part


def parts() -> list[Part]:
    """Return this process and the sshd processes of only this connection, each without its children."""
    found = [Part("agent", os.getpid(), charged=False, alone=True)]
    with contextlib.suppress(psutil.Error):
        for parent in psutil.Process().parents():
            # The listener serves all connections.
            if parent.name().startswith("sshd") and "[listener]" not in " ".join(parent.cmdline()):
                found.append(Part("sshd", parent.pid, charged=False, alone=True))
    return found


def ours() -> list[Part]:
    """Return these processes, with all children of this process."""
    agent, *others = parts()
    return [Part(agent.role, agent.pid, charged=False), *others]
