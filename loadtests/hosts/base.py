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
    """The way to another machine is gone, and all that was started there ends. What is measured just then says nothing;
    the next question is asked over a new connection."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A process that supervisord started: its role (web, worker_0, redis), state, pid and exit status; whether it is
    on another machine than the servers, where its pid is none of theirs (see ``loadtests.hosts.with_services``)."""

    role: str
    state: str
    pid: int
    exit_status: int
    elsewhere: bool = False


class Supervised(Protocol):
    """A supervisord of our own on a host, in a folder of its own there."""

    folder: Path

    def start(self, group: str) -> None:
        """Starts a setup's or a service's group without waiting for it to be ready."""

    def stop(self, group: str) -> None:
        """Stops a group and waits until its processes have ended. Raises UserError where they do not in their time."""

    def programs(self, group: str) -> list[Program]:
        """The group's processes as supervisord sees them now."""

    def has(self, file: str) -> bool:
        """Whether a file of that name is in the folder."""

    def logs(self) -> str:
        """The ends of the programs' logs."""


class Host(Protocol):
    """A machine where servers and services run. The generator runs on this one. One that is another machine raises
    ConnectionLost, whatever it is asked."""

    name: str

    def boot(self) -> str:
        """What tells the machine, since it was started, from all others. Raises UserError."""

    def bind(self) -> str:
        """The address that servers are to listen on there. Raises UserError."""

    def address(self, bind: str) -> str:
        """Where to ask a server that listens on ``bind`` there."""

    def application(self, given: Application) -> Application:
        """What is to be served, as it is there. Raises UserError for what cannot be served there."""

    def missing(self, needs: Iterable[str]) -> str | None:
        """What it lacks of these (see ``loadtests.setups.needs.missing``)."""

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        """The way to that port, from where one is to ``look``; None where there is none between. Raises UserError where
        load would not reach it, or somebody else; does not where it is to go there ``allow_remote``."""

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        """The way from it to an address of another host (see ``loadtests.hosts.network.look``). Raises UserError."""

    def require_free(self, bind: str, port: int) -> None:
        """Raises UserError where something listens on the port already, and says whose it is."""

    def supervise(self, env: Mapping[str, str]) -> AbstractContextManager[Supervised]:
        """Starts a supervisord, which takes the knobs as environment variables. On leaving, and equally when this
        process dies, all that it started is stopped. Raises UserError."""

    def parts(self) -> list[Part]:
        """What of the harness itself runs there, beside what is measured."""

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        """What each part and all its descendants have used so far, by pid; ``folder`` is the supervisord's."""

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        """The CPU seconds that processes have used so far, by pid; one that has ended is left out. Takes next to no
        time: it is asked while load is made. None where asking would disturb that."""

    def moment(self, cores: Sequence[int]) -> Moment:
        """The machine at this moment; ``cores`` are the servers'."""

    def top_processes(self) -> Takers:
        """Who takes its cores just now, beside this process and what it started; watches for about a second."""

    def calibrate(self, core: int) -> float:
        """How many seconds a fixed piece of work takes on a core there, now (see ``loadtests.observe.calibration``)."""

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        """What others have done by this moment on the machines of the run that it knows of beside itself, by their
        addresses: that of this process where that is another one (its address is empty), and those of services."""

    def calibrations_elsewhere(self) -> dict[str, float]:
        """How long ``spin`` takes on each of these machines, now."""

    def allot(self, wanted: str | None) -> Cores:
        """The cores of servers and generator there (see ``loadtests.observe.cores.allot``). Raises UserError."""

    def machine(self) -> dict[str, Any]:
        """What a reader must know of it (see ``loadtests.observe.machine.describe``)."""

    def free_memory_mb(self) -> int:
        """The memory that programs could still take there, in MB."""

    def versions(self) -> dict[str, Any]:
        """The software there (see ``loadtests.observe.machine.versions``)."""

    def other_host(self) -> OtherHost | None:
        """What run.json keeps of it and of the way to it; None for this machine."""
