"""Define the interface of hosts, which are the machines that run servers and services."""

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
    """The connection to another machine is lost, and everything that was started on that machine ends.

    The current measurement is invalid. The next call opens a new connection.
    """


@dataclasses.dataclass(frozen=True)
class Program:
    """A process that supervisord runs: its role (web, worker_0, redis), state, pid and exit status.

    ``elsewhere`` is true if the process doesn't run on the servers' machine (see ``loadtests.hosts.with_services``).
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


class Host(Protocol):
    """A machine that runs servers and services. The load generator runs on the local machine.

    Each method of a remote host may raise ConnectionLost.
    """

    name: str

    def boot(self) -> str:
        """Return an identifier of the machine that changes with each boot.

        Raises:
            UserError: If the machine can't be reached.
        """

    def bind(self) -> str:
        """Return the address on which servers listen.

        Raises:
            UserError: If there is no suitable address.
        """

    def address(self, bind: str) -> str:
        """Return the address at which a server that listens on ``bind`` can be reached."""

    def application(self, given: Application) -> Application:
        """Return an application that this host can serve and that is equivalent to ``given``.

        Raises:
            UserError: If the host can't serve the application.
        """

    def missing(self, needs: Iterable[str]) -> str | None:
        """Describe required software that isn't installed (see ``loadtests.setups.needs.missing``)."""

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        """Check that a load can reach a port on this host.

        Args:
            bind: The address on which servers listen.
            port: The port on which servers listen.
            allow_remote: Whether to return None instead of raising an error.
            look: The function that measures the network.

        Returns:
            The network between the machine that runs ``look`` and the port, or None for the local machine.

        Raises:
            UserError: If the load wouldn't reach the port, or would reach another machine.
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
        """Start a supervisord whose environment contains the knobs in ``env``.

        When the context ends, or if this process dies, everything that supervisord started is stopped.

        Raises:
            UserError: If supervisord doesn't start.
        """

    def parts(self) -> list[Part]:
        """Return the harness's own processes on the host."""

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        """Return the resources that each process in ``parts`` and its descendants have used so far, by pid.

        The argument ``folder`` is the folder of supervisord.
        """

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        """Return the CPU seconds that the running processes have used so far, by pid.

        The call is cheap enough to use during a load. A host on which the call would disturb the load returns None.
        """

    def moment(self, cores: Sequence[int]) -> Moment:
        """Return the current conditions on the machine and on the servers' ``cores``."""

    def top_processes(self) -> Takers:
        """Watch the machine for about a second, and return the other programs that use its cores."""

    def calibrate(self, core: int) -> float:
        """Return the seconds that the calibration loop takes on a core (see ``loadtests.observe.calibration``)."""

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        """Return the work that other programs have done so far on the run's other machines, by address.

        The other machines are the machines of services, and the machine of this process, whose address is empty. The
        host itself isn't included.
        """

    def calibrations_elsewhere(self) -> dict[str, float]:
        """Return the seconds that the calibration loop takes on each machine of ``load_elsewhere``, by address."""

    def allot(self, requested: str | None) -> Cores:
        """Return the cores for the servers and the generator (see ``loadtests.observe.cores.allot``).

        Raises:
            UserError: If ``requested`` isn't valid.
        """

    def machine(self) -> dict[str, Any]:
        """Describe the machine (see ``loadtests.observe.machine.describe``)."""

    def free_memory_mb(self) -> int:
        """Return the memory in MB that programs could still use."""

    def versions(self) -> dict[str, Any]:
        """Return the software versions on the machine (see ``loadtests.observe.machine.versions``)."""

    def other_host(self) -> OtherHost | None:
        """Return the host's entry in run.json, or None for the local machine."""
