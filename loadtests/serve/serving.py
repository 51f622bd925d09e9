"""A setup that answers: its group started and healthy, and stopped at the end."""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from loadtests.application import Application, sample
from loadtests.errors import UserError
from loadtests.hosts.supervisor import Program, Supervisor
from loadtests.serve.http import ask
from loadtests.setups import Setup
from loadtests.workload import Request

HEALTHY_WITHIN_S = 20.0
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to ask a server that listens everywhere
GONE = ("BACKOFF", "FATAL", "UNKNOWN")


class NotServing(Exception):
    """A setup that did not come up, or broke. ``log`` is the end of its logs."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class Serving:
    """A running setup: where it answers, and its processes."""

    def __init__(
        self, setup: Setup, supervisor: Supervisor, host: str, port: int, application: Application | None = None
    ) -> None:
        self.setup = setup
        self.host = host
        self.port = port
        self.application = application or sample()
        self._supervisor = supervisor

    @property
    def url(self) -> str:
        """The address without a path, such as ``http://127.0.0.1:8000``."""
        return f"http://{self.host}:{self.port}"

    @property
    def health(self) -> Request:
        """The request that is answered once the whole way to a view works."""
        [request] = self.application.addressed([Request("health", path=self.application.health)])
        return request

    @property
    def folder(self) -> Path:
        """The folder of its sockets and logs, while it runs."""
        return self._supervisor.folder

    def programs(self) -> list[Program]:
        """The processes that supervisord started for it, without those that had nothing to do."""
        return [program for program in self._supervisor.programs(self.setup.name) if program.pid]

    def logs(self) -> str:
        """The ends of its logs."""
        return self._supervisor.logs()

    def failed(self) -> str | None:
        """Which process is not up, or None where all are."""
        for program in self._supervisor.programs(self.setup.name):
            # A program may exit with 0 by design: the redis program, where REDIS_URL names another Redis.
            if program.state in GONE or (program.state == "EXITED" and program.exit_status != 0):
                return f"{self.setup.name}:{program.role} is {program.state} (exit status {program.exit_status})"
        return None


@contextlib.contextmanager
def serving(
    setup: Setup, env: Mapping[str, str], host: str, port: int, application: Application | None = None
) -> Iterator[Serving]:
    """Starts the setup, waits until it is healthy, and stops it at the end.

    Takes the knobs as environment variables; without an application the sample project is served. Raises UserError
    where the port is taken and NotServing where the setup does not come up.
    """
    application = application or sample()
    require_free(host, port)
    with Supervisor({**application.environment, **env, "BIND": host, "PORT": str(port)}) as supervisor:
        running = Serving(setup, supervisor, LOOPBACK.get(host, host), port, application)
        supervisor.start(setup.name)
        _wait(running)
        yield running


def _wait(running: Serving) -> None:
    end = time.monotonic() + HEALTHY_WITHIN_S
    last = "no answer"
    while time.monotonic() < end:
        if (failed := running.failed()) is not None:
            raise NotServing(f"did not start: {failed}", running.logs())
        try:
            answer = ask(running.host, running.port, running.health, timeout_s=2.0)
            if answer.status < 500:  # a project may have no page there, or send it elsewhere
                return
            last = f"status {answer.status}"
        except (OSError, http.client.HTTPException) as error:
            last = str(error) or type(error).__name__
        time.sleep(0.05)
    raise NotServing(f"was not healthy within {HEALTHY_WITHIN_S:.0f} s: {running.health.path}: {last}", running.logs())


def require_free(host: str, port: int) -> None:
    """Raises UserError where something listens on the port already, and says whose it is."""
    for connection in psutil.net_connections("tcp"):
        address = connection.laddr
        if connection.status != psutil.CONN_LISTEN or not address or address.port != port:
            continue
        if address.ip not in (host, "0.0.0.0", "::", "::1") and host != "0.0.0.0":
            continue
        owner = "another user's process"
        if connection.pid:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(connection.pid)
                owner = f"{process.name()} (pid {connection.pid}, user {process.username()})"
        raise UserError(f"port {port} is taken by {owner}; stop it, or choose another: PORT={port + 1}")
