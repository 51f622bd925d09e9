"""The interface of machines for measurements."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from loadtests.errors import UserError
from loadtests.hosts import network
from loadtests.hosts.network import Look, Network
from loadtests.observe.conditions import Moment
from loadtests.observe.cores import Cores
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.observe.top_processes import Takers
from loadtests.records.run.run_record import OtherHost
from loadtests.setups.application import Application


class ConnectionLost(UserError):
    """The connection to another machine is lost, and everything that was started on it ends.

    The current measurement is invalid. The next call opens a new connection.
    """


@dataclasses.dataclass(frozen=True)
class Program:
    """A process of supervisord: its role (web, worker_0, redis), state, pid and exit status.

    ``elsewhere`` means that it runs on another machine than the servers (see ``loadtests.hosts.with_services``).
    """

    role: str
    state: str
    pid: int
    exit_status: int
    elsewhere: bool = False


class Supervised(Protocol):
    """A supervisord on a host, with its own folder on that host."""

    folder: Path

    def start(self, group: str) -> None:
        """Start the group of a setup or service, or one of its processes (``group:role``), without waiting for it."""

    def stop(self, group: str) -> None:
        """Stop a group or a process, and wait until it has ended.

        Raises:
            UserError: If it doesn't end in time.
        """

    def programs(self, group: str) -> list[Program]:
        """Return the processes of a group, or the single process, with their current states."""

    def signal(self, pid: int, name: str) -> None:
        """Send a signal (``HUP``) to a process that the supervisord or one of its processes started.

        Raises:
            UserError: If it is another process.
        """

    def has(self, file: str) -> bool:
        """Return whether the folder contains a file with this name."""

    def read(self, file: str) -> str:
        """Return the text of a file in the folder.

        Raises:
            UserError: If there is no such file.
        """

    def logs(self) -> str:
        """Return the ends of the programs' logs."""


class Host(Protocol):
    """A machine for servers and services. The generator runs on the local machine.

    Each method of a remote host may raise ConnectionLost.
    """

    name: str

    def boot(self) -> str:
        """Return an identifier of the machine that changes with each boot.

        Raises:
            UserError: If the machine can't be reached.
        """

    def bind(self) -> str:
        """Return the address that servers listen on.

        Raises:
            UserError: If there is no suitable address.
        """

    def address(self, bind: str) -> str:
        """Return the address to reach a server that listens on ``bind``."""

    def application(self, given: Application) -> Application:
        """Return the application in its form on this host.

        Raises:
            UserError: If the host can't serve it.
        """

    def missing(self, needs: Iterable[str]) -> str | None:
        """Describe the missing needs (see ``loadtests.setups.needs.missing``)."""

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        """Check that load reaches the port on this host.

        Args:
            bind: The address that servers listen on.
            port: The port.
            allow_remote: Whether to return None instead of raising an error.
            look: Measures the network.

        Returns:
            The network to the port from the machine that runs ``look``, or None for the local machine.

        Raises:
            UserError: If load would not reach the port, or would reach another machine.
        """

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        """Measure the network from this host to another host's address (see ``loadtests.hosts.network.look``).

        Raises:
            UserError: If the other host can't be reached.
        """

    def require_free(self, bind: str, port: int) -> None:
        """Check that a port is free.

        Raises:
            UserError: If a process listens on the port. The message names the process.
        """

    def supervise(self, env: Mapping[str, str]) -> AbstractContextManager[Supervised]:
        """Start a supervisord with the knobs as environment variables.

        At the end, or if this process dies, everything that it started is stopped.

        Raises:
            UserError: If supervisord doesn't start.
        """

    def parts(self) -> list[Part]:
        """Return the harness's own processes on the host."""

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        """Return the use of each part with its descendants so far, by pid. ``folder`` is supervisord's."""

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        """Return the CPU seconds so far of the living processes, by pid.

        The call is cheap enough to use during a load. The value is None if it would disturb the load.
        """

    def moment(self, cores: Sequence[int]) -> Moment:
        """Return the machine's current conditions. ``cores`` are the servers' cores."""

    def top_processes(self) -> Takers:
        """Watch for about a second, and return the other programs that use its cores."""

    def calibrate(self, core: int) -> float:
        """Run the calibration loop on a core, and return its seconds (see ``loadtests.observe.calibration``)."""

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        """Return the work of other programs so far on the run's other machines, by address.

        They are the machines of services, and the machine of this process (with an empty address) if it is another one.
        """

    def calibrations_elsewhere(self) -> dict[str, float]:
        """Run the calibration loop on each of these machines, and return its seconds."""

    def allot(self, requested: str | None) -> Cores:
        """Return the cores of servers and generator (see ``loadtests.observe.cores.allot``).

        Raises:
            UserError: If the request isn't valid.
        """

    def machine(self) -> dict[str, Any]:
        """Describe the machine (see ``loadtests.observe.machine.describe``)."""

    def free_memory_mb(self) -> int:
        """Return the memory in MB that programs could still use."""

    def versions(self) -> dict[str, Any]:
        """Return the software versions on the machine (see ``loadtests.observe.machine.versions``)."""

    def other_host(self) -> OtherHost | None:
        """Return its entry in run.json, or None for the local machine."""
