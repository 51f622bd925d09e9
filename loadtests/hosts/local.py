"""Use the local machine, and define the interface of all hosts."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil

from loadtests import setups
from loadtests.cleanup import folders
from loadtests.errors import UserError
from loadtests.hosts import network
from loadtests.hosts.base import Supervised
from loadtests.hosts.network import Look, Network
from loadtests.hosts.proof import ProofServer
from loadtests.hosts.supervisor import Supervisor
from loadtests.observe import calibration, conditions, cores, machine, processes, top_processes
from loadtests.observe.conditions import Moment
from loadtests.observe.cores import Cores
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.observe.top_processes import Takers
from loadtests.records.run.run_record import OtherHost
from loadtests.setups.application import Application
from loadtests.setups.needs import missing

LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # the way to reach a server that listens on all addresses


class Host:
    """A machine that runs servers and services. The load generator runs on the local machine.

    This class is the local machine. ``loadtests.hosts.ssh.Ssh`` is a remote machine, whose methods may raise
    ConnectionLost.
    """

    name = "local"

    def boot(self) -> str:
        """Return an identifier of the machine that changes with each boot.

        Raises:
            UserError: If the machine can't be reached.
        """
        return machine.boot()

    def bind(self) -> str:
        """Return the address on which servers listen.

        Raises:
            UserError: If there is no suitable address.
        """
        return setups.bind()

    def address(self, bind: str) -> str:
        """Return the address at which a server that listens on ``bind`` can be reached."""
        return LOOPBACK.get(bind, bind)

    def application(self, given: Application) -> Application:
        """Return an application that this host can serve and that is equivalent to ``given``.

        Raises:
            UserError: If the host can't serve the application.
        """
        return given

    def missing(self, needs: Collection[str]) -> str | None:
        """Describe required software that isn't installed (see ``loadtests.setups.needs.missing``)."""
        return missing(needs)

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
        if look is network.look:
            return None
        token = secrets.token_hex(16)
        with contextlib.closing(ProofServer(token, bind, port)):
            try:
                return look("this machine", (self.address(bind), port), token, "")
            except UserError as error:
                raise UserError(f"{error}. Set BIND to an address that the workers can reach: BIND=10.0.0.1") from None

    def require_free(self, bind: str, port: int) -> None:
        """Check that a port is free.

        Raises:
            UserError: If a process listens on the port. The message names the process.
        """
        folders.remove_abandoned()  # removing abandoned folders also stops servers that may still use the port
        for connection in psutil.net_connections("tcp"):
            address = connection.laddr
            if connection.status != psutil.CONN_LISTEN or not address or address.port != port:
                continue
            if address.ip not in (bind, "0.0.0.0", "::", "::1") and bind != "0.0.0.0":
                continue
            owner = "another user's process"
            if connection.pid:
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(connection.pid)
                    owner = f"{process.name()} (pid {connection.pid}, user {process.username()})"
            raise UserError(f"port {port} is used by {owner}. Stop this process, or set another port: PORT={port + 1}")

    def supervise(self, env: Mapping[str, str]) -> AbstractContextManager[Supervised]:
        """Start a supervisord whose environment contains the knobs in ``env``.

        When the context ends, or if this process dies, everything that supervisord started is stopped.

        Raises:
            UserError: If supervisord doesn't start.
        """
        return Supervisor(env)

    def parts(self) -> list[Part]:
        """Return the harness's own processes on the host."""
        return []

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        """Return the resources that each process in ``parts`` and its descendants have used so far, by pid.

        The argument ``folder`` is the folder of supervisord.
        """
        return processes.snapshot(parts, folder)

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        """Return the CPU seconds that the running processes have used so far, by pid.

        The call is cheap enough to use during a load. A host on which the call would disturb the load returns None.
        """
        return processes.cpu_s(pids)

    def moment(self, cores: Sequence[int]) -> Moment:
        """Return the current conditions on the machine and on the servers' ``cores``."""
        return conditions.now(cores)

    def top_processes(self) -> Takers:
        """Watch the machine for about a second, and return the other programs that use its cores."""
        return top_processes.watch()

    def calibrate(self, core: int) -> float:
        """Return the seconds that the calibration loop takes on a core (see ``loadtests.observe.calibration``)."""
        return calibration.calibrate(core)

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        """Return the work that other programs have done so far on the run's other machines, by address.

        For a remote host, the only other machine is the machine of this process, whose address is empty.
        """
        return {}

    def calibrations_elsewhere(self) -> dict[str, float]:
        """Return the seconds that the calibration loop takes on each machine of ``load_elsewhere``, by address."""
        return {}

    def allot(self, requested: str | None) -> Cores:
        """Return the cores for the servers and the generator (see ``loadtests.observe.cores.allot``).

        Raises:
            UserError: If ``requested`` isn't valid.
        """
        return cores.allot(requested)

    def machine(self) -> dict[str, Any]:
        """Describe the machine (see ``loadtests.observe.machine.describe``)."""
        return machine.describe()

    def free_memory_mb(self) -> int:
        """Return the memory in MB that programs could still use."""
        return machine.available_memory_mb()

    def versions(self) -> dict[str, Any]:
        """Return the software versions on the machine (see ``loadtests.observe.machine.versions``)."""
        return machine.versions()

    def other_host(self) -> OtherHost | None:
        """Return the host's entry in run.json, or None for the local machine."""
        return None
