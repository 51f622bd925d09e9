"""What measuring needs of a machine, whichever it is."""

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
    """The connection to another machine is lost, and all that was started there ends. The current measurement is
    invalid; the next call makes a new connection."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A process of supervisord: its role (web, worker_0, redis), state, pid and exit status. ``elsewhere``: it runs on
    another machine than the servers (see ``loadtests.hosts.with_services``)."""

    role: str
    state: str
    pid: int
    exit_status: int
    elsewhere: bool = False


class Supervised(Protocol):
    """A supervisord of our own on a host, in a folder of its own there."""

    folder: Path

    def start(self, group: str) -> None:
        """Starts a setup's or a service's group, or one process of it (``group:role``), without waiting until it is
        ready."""

    def stop(self, group: str) -> None:
        """Stops a group or a process and waits until it has ended. Raises UserError when it does not end in time."""

    def programs(self, group: str) -> list[Program]:
        """The processes of a group, or the one, and their present state."""

    def signal(self, pid: int, name: str) -> None:
        """Sends a signal (``HUP``) to one of the processes that it has started, or that these have. Raises UserError
        for any other."""

    def has(self, file: str) -> bool:
        """Whether a file of that name is in the folder."""

    def read(self, file: str) -> str:
        """The text of a file of that name in the folder. Raises UserError where there is none."""

    def logs(self) -> str:
        """The ends of the programs' logs."""


class Host(Protocol):
    """A machine where servers and services run; the generator runs on this one. Each method of a remote host may raise
    ConnectionLost."""

    name: str

    def boot(self) -> str:
        """The machine's identity since it was started. Raises UserError."""

    def bind(self) -> str:
        """The address that servers listen on there. Raises UserError."""

    def address(self, bind: str) -> str:
        """The address of a server that listens on ``bind`` there."""

    def application(self, given: Application) -> Application:
        """The application as it is there. Raises UserError for one that cannot be served there."""

    def missing(self, needs: Iterable[str]) -> str | None:
        """The needs that it lacks (see ``loadtests.setups.needs.missing``)."""

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        """The network to that port from where ``look`` runs; None on this machine. Raises UserError when load would not
        reach it, or would reach somebody else; with ``allow_remote`` it then returns None."""

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        """The network from it to another host's address (see ``loadtests.hosts.network.look``). Raises UserError."""

    def require_free(self, bind: str, port: int) -> None:
        """Raises UserError when something listens on the port already, and names it."""

    def supervise(self, env: Mapping[str, str]) -> AbstractContextManager[Supervised]:
        """Starts a supervisord with the knobs as environment variables. On leaving, and when this process dies, all
        that it started is stopped. Raises UserError."""

    def parts(self) -> list[Part]:
        """The harness's own processes there."""

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        """What each part with its descendants has used so far, by pid; ``folder`` is supervisord's."""

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        """CPU seconds so far of the processes that live, by pid; cheap enough to be called during load. None where it
        would disturb the load."""

    def moment(self, cores: Sequence[int]) -> Moment:
        """The machine's conditions now; ``cores`` are the servers'."""

    def top_processes(self) -> Takers:
        """Which other programs take its cores; watches for about a second."""

    def calibrate(self, core: int) -> float:
        """Seconds of the calibration loop on a core there, now (see ``loadtests.observe.calibration``)."""

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        """The work of others so far on the run's other machines, by address: this process's (with an empty address)
        where it is another one, and those of services."""

    def calibrations_elsewhere(self) -> dict[str, float]:
        """Seconds of the calibration loop on each of these machines, now."""

    def allot(self, requested: str | None) -> Cores:
        """The cores of servers and generator (see ``loadtests.observe.cores.allot``). Raises UserError."""

    def machine(self) -> dict[str, Any]:
        """Its description (see ``loadtests.observe.machine.describe``)."""

    def free_memory_mb(self) -> int:
        """The memory that programs could still take there, in MB."""

    def versions(self) -> dict[str, Any]:
        """The software there (see ``loadtests.observe.machine.versions``)."""

    def other_host(self) -> OtherHost | None:
        """Its entry in run.json; None for this machine."""
