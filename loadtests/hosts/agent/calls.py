"""Define the agent's methods, whose arguments and return values are JSON.

The methods of ``Host`` do the same work on the agent's machine as on the local machine.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import platform
import secrets
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from loadtests import setups
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.agent import connection
from loadtests.hosts.local import Host
from loadtests.hosts.proof import ProofServer
from loadtests.hosts.supervisor import Supervisor
from loadtests.hosts.wire import AgentFacts
from loadtests.observe import conditions, cores, doctor
from loadtests.observe.conditions import Moment
from loadtests.observe.machine import boot
from loadtests.observe.processes import Part, Usage
from loadtests.setups.application import sample

ENVIRONMENT = (*setups.KNOBS, "DATABASE_URL")  # set by the client, not by the shell on the agent's machine
OF_SUPERVISOR = ("start", "stop", "programs", "signal", "has", "read", "logs")


class AgentCalls(Host):
    """The methods that a client can call. The method ``close`` stops everything that the calls started."""

    def __init__(self) -> None:
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
            boot=boot(),
            python=platform.python_version(),
            parts=tuple(connection.parts()),
        )

    def prove(self, bind: str, port: int) -> None:
        self.require_free(bind, port)
        self._proofs.append(ProofServer(self._marker.token, bind, port))

    def end_proof(self) -> None:
        while self._proofs:
            self._proofs.pop().close()

    def missing_for(self, setup: str) -> str:
        return setups.missing(setups.find([setup])[0]) or ""

    def missing(self, needs: Collection[str]) -> str:
        return super().missing(needs) or ""

    def prepare_sample(self) -> None:
        sample().prepare()

    def begin_supervisor(self, env: dict[str, str]) -> tuple[int, str]:
        # The sample project's own key is published, so anyone who can reach the server could sign data with it.
        supervisor = Supervisor({**sample().environment, "SECRET_KEY": self._secret, **env})
        supervisor.__enter__()
        self._started += 1
        self.supervisors[self._started] = supervisor
        return self._started, str(supervisor.folder)

    def end_supervisor(self, number: int) -> None:
        if (supervisor := self.supervisors.pop(number, None)) is not None:
            supervisor.end()

    def usage_of(self, parts: list[Part], folder: str) -> dict[int, Usage]:
        return self.usage(parts, Path(folder))

    def moment(self, cores: Sequence[int]) -> Moment:
        moment = super().moment(cores)
        # Network interrupts that the load causes don't count as the work of other programs.
        return dataclasses.replace(moment, cores_busy_s=moment.cores_busy_s - conditions.interrupts_s(cores))

    def all_cores(self, requested: str | None) -> tuple[int, ...]:
        return cores.all_of(requested)

    def doctor(self) -> list[tuple[str, str, str]]:
        return [(finding.level, finding.what, finding.fix) for finding in doctor.examine_servers()]


def value_of(calls: AgentCalls, method: str, arguments: dict[str, Any]) -> Any:
    """Call a method of the agent and return its value.

    Raises:
        UserError: If the method fails or doesn't exist, or if arguments have wrong names or types.
    """
    owner: Any = calls
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
