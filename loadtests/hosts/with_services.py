"""A machine for the servers some of whose services run on machines of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from loadtests.hosts.base import Host, Program, Supervised
from loadtests.hosts.ssh import Ssh
from loadtests.observe.machine import boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.setups.services import PASSWORD, Service

# No process has such a number or one above it (proc(5), pid_max): above it are those of the first service's machine,
# above twice as many those of the second's.
PIDS = 1 << 22


class WithServices:
    """The ``servers``' machine, see ``loadtests.hosts.base.Host``, with each of ``services`` on the machine beside it.
    It listens there on the port that its servers have on theirs, and wants a password that nobody else knows."""

    def __init__(self, servers: Host, services: Mapping[Service, Ssh]) -> None:
        self._servers = servers
        self._machines = tuple(services.values())
        self._services = {service.name: (service, number) for number, service in enumerate(services)}
        self._password = secrets.token_hex(16)
        self.name = servers.name
        self.boot, self.bind, self.address = servers.boot, servers.bind, servers.address
        self.network_to, self.require_reachable = servers.network_to, servers.require_reachable
        self.application, self.other_host = servers.application, servers.other_host
        self.parts, self.moment = servers.parts, servers.moment
        self.top_processes, self.calibrate = servers.top_processes, servers.calibrate
        self.allot, self.machine, self.versions = servers.allot, servers.machine, servers.versions
        self.free_memory_mb = servers.free_memory_mb

    def missing(self, needs: Iterable[str]) -> str | None:
        elsewhere = {need for service, _ in self._services.values() for need in service.needs}
        return self._servers.missing([need for need in needs if need not in elsewhere])

    def require_free(self, bind: str, port: int) -> None:
        self._servers.require_free(bind, port)
        for machine in self._machines:
            machine.require_free(machine.listens_on(), port)

    @contextlib.contextmanager
    def supervise(self, env: Mapping[str, str]) -> Iterator[Supervised]:
        port = env["PORT"]
        told: dict[str, str] = {}
        there = {}
        for name, (service, number) in self._services.items():
            machine = self._machines[number]
            address = machine.listens_on()
            told.update([service.variable_for(address, int(port), self._password)])
            # Which cores the servers have says nothing of that machine: all of its own are the service's.
            own = {"BIND": address, "PORT": port, PASSWORD: self._password, "CORES": "", "SERVICES_CORES": ""}
            there[name] = RemoteService(number, machine.supervise(own), machine.boot() != self.boot())
        with ExitStack() as stack:
            here = stack.enter_context(self._servers.supervise({**env, **told}))
            yield CombinedSupervisor(here, there, stack)

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        return {**self._servers.load_elsewhere(), **{machine.name: machine.others() for machine in self._apart()}}

    def calibrations_elsewhere(self) -> dict[str, float]:
        return {
            **self._servers.calibrations_elsewhere(),
            **{machine.name: machine.calibrate_anywhere() for machine in self._apart()},
        }

    def _apart(self) -> list[Ssh]:
        """The services' machines, but for one that is the servers' or this process's as well."""
        return [machine for machine in self._machines if machine.boot() not in (self.boot(), boot())]

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        by_machine: dict[int, list[Part]] = {}
        for part in parts:
            by_machine.setdefault(part.pid // PIDS, []).append(part)
        found = self._servers.usage(by_machine.pop(0, []), folder)
        for number, those in by_machine.items():
            own = [dataclasses.replace(part, pid=part.pid % PIDS) for part in those]
            for pid, usage in self._machines[number - 1].usage(own, folder).items():
                found[pid + number * PIDS] = dataclasses.replace(usage, pid=pid + number * PIDS)
        return found

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        # Of the servers' machine alone: each question to another crosses a network.
        return self._servers.cpu_s(pid for pid in pids if pid < PIDS)


@dataclasses.dataclass(frozen=True)
class RemoteService:
    """A service's supervisord, on the machine of that number; whether that is ``another`` than the servers'."""

    number: int
    supervised: AbstractContextManager[Supervised]
    another: bool


class CombinedSupervisor:
    """A supervisord ``here``, and one for each service ``elsewhere`` once that is started; see
    ``loadtests.hosts.base.Supervised``. They end with ``stack``."""

    def __init__(self, here: Supervised, elsewhere: Mapping[str, RemoteService], stack: ExitStack) -> None:
        self.folder = here.folder
        self._here = here
        self._elsewhere = elsewhere
        self._stack = stack
        self._begun: dict[str, Supervised] = {}

    def start(self, group: str) -> None:
        if group in self._elsewhere and group not in self._begun:
            self._begun[group] = self._stack.enter_context(self._elsewhere[group].supervised)
        self._of(group).start(group)

    def stop(self, group: str) -> None:
        self._of(group).stop(group)

    def programs(self, group: str) -> list[Program]:
        found = self._of(group).programs(group)
        if group not in self._begun:
            return found
        where = self._elsewhere[group]
        above = (where.number + 1) * PIDS
        return [
            dataclasses.replace(program, pid=program.pid and program.pid + above, elsewhere=where.another)
            for program in found
        ]

    def has(self, file: str) -> bool:
        return any(supervised.has(file) for supervised in (self._here, *self._begun.values()))

    def logs(self) -> str:
        return "\n".join(filter(None, (supervised.logs() for supervised in (self._here, *self._begun.values()))))

    def _of(self, group: str) -> Supervised:
        return self._begun.get(group, self._here)
