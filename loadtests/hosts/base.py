"""Define the interface of a supervisord on a host, its programs, and the error for a lost connection."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol

from loadtests.errors import UserError


class ConnectionLost(UserError):
    """The connection to another machine is lost, and everything that was started on that machine ends.

    The current measurement is invalid. The next call opens a new connection.
    """


@dataclasses.dataclass(frozen=True)
class Program:
    """A process that supervisord runs: its role (web, worker_0, redis), state, pid and exit status."""

    role: str
    state: str
    pid: int
    exit_status: int


class Supervised(Protocol):
    """A supervisord on a host, with its own folder on that host."""

    folder: Path

    def start(self, group: str) -> None:
        """Start the group of a setup or service, or a single process (``group:role``), and return immediately."""

    def stop(self, group: str) -> None:
        """Stop a group or a process, and wait until it has ended.

        Raises:
            UserError: If the group or process doesn't end in time.
        """

    def programs(self, group: str) -> list[Program]:
        """Return the processes of a group, or a single process (``group:role``), with their current states."""

    def signal(self, pid: int, name: str) -> None:
        """Send a signal (``HUP``) to a process that supervisord or one of its child processes started.

        Raises:
            UserError: If another program started the process.
        """

    def has(self, file: str) -> bool:
        """Return whether the folder contains a file with this name."""

    def read(self, file: str) -> str:
        """Return the text of a file in the folder.

        Raises:
            UserError: If the file can't be read.
        """

    def logs(self) -> str:
        """Return the last lines of the programs' logs."""
