"""A server under test, as a trial needs to know it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from loadtests.observe.processes import Part
from loadtests.serve.http import Answer
from loadtests.setups.application import Application
from loadtests.workload import Request


class NotServing(Exception):
    """A setup that did not come up, or broke. ``log``: the end of its logs. ``of_service``: a service failed that the
    setup is not charged with."""

    def __init__(self, message: str, log: str = "", of_service: bool = False) -> None:
        super().__init__(message)
        self.log = log
        self.of_service = of_service


class Server(Protocol):
    """A setup that answers."""

    @property
    def url(self) -> str:
        """The address without a path, such as ``http://127.0.0.1:8000``."""

    @property
    def application(self) -> Application:
        """What it serves."""

    @property
    def folder(self) -> Path:
        """The folder of its sockets and logs, while it runs."""

    def parts(self) -> list[Part]:
        """The first process of each of its process trees, and of its services'."""

    def logs(self) -> str:
        """The ends of its logs."""

    def failed(self) -> str | None:
        """A process that is not up."""

    def ask(self, request: Request, timeout_s: float) -> Answer:
        """Its answer to one request. Raises OSError or http.client.HTTPException."""

    def seconds_to_answer(self) -> float:
        """The response time at rest. Raises OSError or http.client.HTTPException."""

    def restart(self) -> None:
        """Stops the setup, not its services, and starts it again; returns when it is healthy. Raises NotServing when it
        does not stop in time, or does not come up."""

    def calm_down(self, idle_s: float) -> bool:
        """Waits until an overload is worked off and it answers as at rest; returns whether it did in time."""
