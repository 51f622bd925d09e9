from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from loadtests import setups
from loadtests.cleanup import folders
from loadtests.errors import UserError
from loadtests.hosts import network
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


class Local:
    """The local machine, as a ``loadtests.hosts.base.Host``."""

    name = "local"

    def boot(self) -> str:
        return machine.boot()

    def bind(self) -> str:
        return setups.bind()

    def address(self, bind: str) -> str:
        return LOOPBACK.get(bind, bind)

    def application(self, given: Application) -> Application:
        return given

    def missing(self, needs: Iterable[str]) -> str | None:
        return missing(needs)

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        if look is network.look:
            return None
        token = secrets.token_hex(16)
        with contextlib.closing(ProofServer(token, bind, port)):
            try:
                return look("this machine", (self.address(bind), port), token, "")
            except UserError as error:
                raise UserError(f"{error}. Set BIND to an address that the workers can reach: BIND=10.0.0.1") from None

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        return network.look(host, address, token, client)

    def require_free(self, bind: str, port: int) -> None:
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

    def supervise(self, env: Mapping[str, str]) -> Supervisor:
        return Supervisor(env)

    def parts(self) -> list[Part]:
        return []

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        return processes.snapshot(parts, folder)

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float]:
        return processes.cpu_s(pids)

    def moment(self, cores: Sequence[int]) -> Moment:
        return conditions.now(cores)

    def top_processes(self) -> Takers:
        return top_processes.watch()

    def calibrate(self, core: int) -> float:
        return calibration.calibrate(core)

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        return {}

    def calibrations_elsewhere(self) -> dict[str, float]:
        return {}

    def allot(self, requested: str | None) -> Cores:
        return cores.allot(requested)

    def machine(self) -> dict[str, Any]:
        return machine.describe()

    def free_memory_mb(self) -> int:
        return machine.available_memory_mb()

    def versions(self) -> dict[str, Any]:
        return machine.versions()

    def other_host(self) -> OtherHost | None:
        return None


def at(address: str) -> Local:
    """Return the local machine, which has no address."""
    if address:
        raise UserError(f"local://{address}: the local machine has no address. Write only local")
    return Local()
