"""Define the agent's methods, whose arguments and return values are JSON.

The methods do the same work on the agent's machine as ``loadtests.hosts.local`` does on the local machine.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import platform
import secrets
import socket
import time
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import psutil

from loadtests import setups
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.agent import connection
from loadtests.hosts.local import Local
from loadtests.hosts.network import Network
from loadtests.hosts.proof import ProofServer
from loadtests.hosts.supervisor import Supervisor
from loadtests.hosts.wire import AgentFacts
from loadtests.measure import doctor
from loadtests.observe import conditions, cores, other_load, processes
from loadtests.observe.conditions import Moment
from loadtests.observe.machine import boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.setups.application import sample

ENVIRONMENT = (*setups.KNOBS, "DATABASE_URL")  # set by the client, not by the shell on the agent's machine
OF_LOCAL = ("require_free", "top_processes", "allot", "machine", "free_memory_mb", "versions")
OF_SUPERVISOR = ("start", "stop", "programs", "signal", "has", "read", "logs")


class AgentCalls:
    """The methods that a client can call. The method ``close`` stops everything that the calls started."""

    def __init__(self) -> None:
        self.host = Local()
        self._marker = deploy.read_marker(ROOT.parent)
        self.supervisors: dict[int, Supervisor] = {}
        self._started = 0
        self._proofs: list[ProofServer] = []
        self._secret = secrets.token_hex(32)

    def close(self) -> None:
        self.end_proof()
        for number in list(self.supervisors):
            self.end_supervisor(number)

    def begin(self, knobs: dict[str, str]) -> AgentFacts:
        """Set the knobs in the agent's environment, and return facts about the agent and its machine."""
        for name in ENVIRONMENT:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in knobs.items() if name in ENVIRONMENT})
        client, _, address, _ = os.environ.get("SSH_CONNECTION", "127.0.0.1 0 127.0.0.1 0").split()
        return AgentFacts(
            token=self._marker.token,
            revision=self._marker.revision,
            dirty=self._marker.dirty,
            files=deploy.digests(ROOT, list(self._marker.files)),
            client=_plain(client),
            address=_plain(address),
            ipv4=_ipv4(_plain(address)),
            boot=boot(),
            python=platform.python_version(),
            parts=tuple(connection.parts()),
        )

    def prove(self, bind: str, port: int) -> None:
        self.host.require_free(bind, port)
        self._proofs.append(ProofServer(self._marker.token, bind, port))

    def end_proof(self) -> None:
        while self._proofs:
            self._proofs.pop().close()

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        return self.host.network_to(host, address, token, client)

    def clock(self) -> float:
        return time.time()

    def missing_for(self, setup: str) -> str:
        return setups.missing(setups.find([setup])[0]) or ""

    def missing(self, needs: list[str]) -> str:
        return self.host.missing(needs) or ""

    def prepare(self) -> None:
        sample().prepare()

    def supervise(self, env: dict[str, str]) -> tuple[int, str]:
        # The sample project's own key is published, so anyone who can reach the server could sign data with it.
        supervisor = self.host.supervise({**sample().environment, "SECRET_KEY": self._secret, **env})
        supervisor.__enter__()
        self._started += 1
        self.supervisors[self._started] = supervisor
        return self._started, str(supervisor.folder)

    def end_supervisor(self, number: int) -> None:
        if (supervisor := self.supervisors.pop(number, None)) is not None:
            supervisor.end()

    def usage(self, parts: list[Part], folder: str) -> dict[int, Usage]:
        # In a call to a service's machine, the folder may be the servers' folder, which is on another machine.
        own = [supervisor.folder for supervisor in self.supervisors.values()]
        return processes.snapshot(parts, Path(folder) if Path(folder) in own else None)

    def moment(self, cores: list[int]) -> Moment:
        moment = self.host.moment(cores)
        # Network interrupts that the load causes don't count as the work of other programs.
        return dataclasses.replace(moment, cores_busy_s=moment.cores_busy_s - conditions.interrupts_s(cores))

    def others(self) -> OthersMoment:
        return other_load.moment(cores.all_of(), connection.ours())

    def calibrate(self, core: int | None) -> float:
        return self.host.calibrate(cores.all_of()[0] if core is None else core)

    def listener(self, port: int) -> int:
        """Return the pid of the process that listens on a port, or 0 if there is no such process."""
        listening = [one for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN and one.laddr]
        return min((one.pid or 0 for one in listening if one.laddr and one.laddr.port == port), default=0)

    def all_cores(self, requested: str | None) -> tuple[int, ...]:
        return cores.all_of(requested)

    def doctor(self) -> list[tuple[str, str, str]]:
        return [(finding.level, finding.what, finding.fix) for finding in doctor.examine_servers()]


def value_of(calls: AgentCalls, method: str, arguments: dict[str, Any]) -> Any:
    """Call a method of the agent and return its value.

    Raises:
        UserError: If the method fails or doesn't exist, or if arguments have wrong names or types.
    """
    owner: Any = calls.host if method in OF_LOCAL else calls
    if method in OF_SUPERVISOR:
        owner = calls.supervisors.get(arguments.pop("number", 0))
    if method.startswith("_") or not hasattr(owner, method):
        raise UserError(f"the agent has no method {method!r} in its current state")
    function = getattr(owner, method)
    types = get_type_hints(function)
    types.pop("return")
    kind = msgspec.defstruct("Arguments", list(types.items()), forbid_unknown_fields=True)
    try:
        given = wire.typed(arguments, kind)
    except wire.NotAMessage as error:
        raise UserError(f"{method}: {error}") from None
    return function(**msgspec.structs.asdict(given))


def _plain(address: str) -> str:
    """Remove the scope from an address, and convert an IPv4-mapped IPv6 address to IPv4 (RFC 4291, 2.5.5.2)."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _ipv4(address: str) -> str | None:
    """Return an IPv4 address unchanged. For an IPv6 address, return an IPv4 address of its interface, or None."""
    if ":" not in address:
        return address
    for listed in psutil.net_if_addrs().values():
        if address in [one.address.partition("%")[0] for one in listed]:
            return next((one.address for one in listed if one.family == socket.AF_INET), None)
    return None
