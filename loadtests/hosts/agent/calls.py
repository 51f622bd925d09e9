"""What an agent is asked: a method for each question, whose arguments and answer are JSON. It does there what
``loadtests.hosts.local`` does here."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import platform
import secrets
import socket
import time
from pathlib import Path
from typing import Any

import msgspec
import psutil

from loadtests import setups
from loadtests.files import ROOT
from loadtests.hosts import deploy
from loadtests.hosts.agent import connection
from loadtests.hosts.agent.proof import Prover
from loadtests.hosts.base import Program
from loadtests.hosts.facts import Facts
from loadtests.hosts.local import Local
from loadtests.hosts.network import Network
from loadtests.hosts.supervisor import Supervisor
from loadtests.measure import doctor
from loadtests.observe import conditions, cores, other_load
from loadtests.observe.conditions import Moment
from loadtests.observe.cores import Cores
from loadtests.observe.machine import boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.observe.top_processes import Takers
from loadtests.setups.application import sample

OURS = (*setups.KNOBS, "DATABASE_URL")  # of the environment: the client says it, and not the shell there


class AgentCalls:
    """The answers. On closing, all that was started is stopped."""

    def __init__(self) -> None:
        self._host = Local()
        self._marker = deploy.read_marker(ROOT.parent)
        self._supervised: dict[int, Supervisor] = {}
        self._started = 0
        self._provers: list[Prover] = []
        self._secret = secrets.token_hex(32)

    def close(self) -> None:
        self.proved()
        for number in list(self._supervised):
            self.stop(number)

    def begin(self, knobs: dict[str, str]) -> Facts:
        """Takes the knobs as its own environment."""
        for name in OURS:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in knobs.items() if name in OURS})
        client, _, address, _ = os.environ.get("SSH_CONNECTION", "127.0.0.1 0 127.0.0.1 0").split()
        return Facts(
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
        self._host.require_free(bind, port)
        self._provers.append(Prover(self._marker.token, bind, port))

    def proved(self) -> None:
        while self._provers:
            self._provers.pop().close()

    def network_to(self, host: str, address: list[Any], token: str, client: str) -> Network:
        return self._host.network_to(host, (str(address[0]), int(address[1])), token, client)

    def clock(self) -> float:
        return time.time()

    def missing_for(self, setup: str) -> str:
        return setups.missing(setups.find([setup])[0]) or ""

    def missing(self, needs: list[str]) -> str:
        return self._host.missing(needs) or ""

    def prepare(self) -> None:
        sample().prepare()

    def require_free(self, bind: str, port: int) -> None:
        self._host.require_free(bind, port)

    def supervise(self, env: dict[str, str]) -> tuple[int, str]:
        # Whoever reaches the address could sign what the project believes, if the key were the one that is published.
        made = self._host.supervise({**sample().environment, "SECRET_KEY": self._secret, **env})
        made.__enter__()
        self._started += 1
        self._supervised[self._started] = made
        return self._started, str(made.folder)

    def start(self, number: int, group: str) -> None:
        self._supervised[number].start(group)

    def stop_group(self, number: int, group: str) -> None:
        self._supervised[number].stop(group)

    def programs(self, number: int, group: str) -> list[Program]:
        return self._supervised[number].programs(group)

    def has(self, number: int, file: str) -> bool:
        return self._supervised[number].has(file)

    def logs(self, number: int) -> str:
        return self._supervised[number].logs()

    def stop(self, number: int) -> None:
        self._supervised[number].end()
        del self._supervised[number]

    def usage(self, parts: list[Any], folder: str) -> dict[int, Usage]:
        return self._host.usage(msgspec.convert(parts, list[Part]), Path(folder))

    def moment(self, cores: list[int]) -> Moment:
        seen = self._host.moment(cores)
        # Receiving the packets of the load is no other program's work.
        return dataclasses.replace(seen, cores_busy_s=seen.cores_busy_s - conditions.interrupts_s(cores))

    def others(self) -> OthersMoment:
        return other_load.moment(cores.all_of(), connection.ours())

    def top_processes(self) -> Takers:
        return self._host.top_processes()

    def calibrate(self, core: int | None) -> float:
        return self._host.calibrate(cores.all_of()[0] if core is None else core)

    def allot(self, wanted: str | None) -> Cores:
        return self._host.allot(wanted)

    def all_cores(self, wanted: str | None) -> tuple[int, ...]:
        return cores.all_of(wanted)

    def machine(self) -> dict[str, Any]:
        return self._host.machine()

    def free_memory_mb(self) -> int:
        return self._host.free_memory_mb()

    def versions(self) -> dict[str, Any]:
        return self._host.versions()

    def doctor(self) -> list[tuple[str, str, str]]:
        found = doctor.examine_servers()
        return [(one.level, one.what, one.fix) for one in found]


def _plain(address: str) -> str:
    """Without a scope, and IPv4 as such where it comes in the clothes of IPv6 (RFC 4291, 2.5.5.2)."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _ipv4(address: str) -> str | None:
    """The address, or an IPv4 address of the interface that has it; None where it has none."""
    if ":" not in address:
        return address
    for listed in psutil.net_if_addrs().values():
        if address in [one.address.partition("%")[0] for one in listed]:
            return next((one.address for one in listed if one.family == socket.AF_INET), None)
    return None
