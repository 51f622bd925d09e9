"""Combine the servers' machine with the separate machines of services."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from loadtests.errors import UserError
from loadtests.hosts.base import Host, Program, Supervised
from loadtests.hosts.ssh import Ssh
from loadtests.observe.machine import boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.setups import prefixed
from loadtests.setups.services import PASSWORD, Service

# A number above every pid (proc(5), pid_max). The harness adds it to the pids on the first service's machine, and twice
# the number to the pids on the second service's machine.
PIDS = 1 << 22


class WithServices:
    """The servers' machine, combined with the separate machines of services (see ``loadtests.hosts.base.Host``).

    Each service listens on its own machine, on the same port number as the servers, and requires a generated password.
    If an environment variable contains a service's address, someone else runs the service, and the harness only
    measures its cost.
    """

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
        port = env["BENCH_PORT"]
        variables: dict[str, str] = {}
        remote = {}
        for name, (service, number) in self._services.items():
            machine = self._machines[number]
            another = machine.boot() != self.boot()
            if service.of_others:
                others: Supervised = OfOthers(service, machine)
                remote[name] = RemoteService(number, contextlib.nullcontext(others), another)
                continue
            address = machine.listens_on()
            variables.update([service.variable_for(address, int(port), self._password)])
            # The servers' cores don't apply to the service's machine. The service can use all cores of its machine.
            own = {"BIND": address, "PORT": port, PASSWORD: self._password, "CORES": "", "SERVICES_CORES": ""}
            remote[name] = RemoteService(number, machine.supervise(prefixed(own)), another)
        with ExitStack() as stack:
            servers = stack.enter_context(self._servers.supervise({**env, **variables}))
            yield CombinedSupervisor(servers, remote, stack)

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        return {**self._servers.load_elsewhere(), **{machine.name: machine.others() for machine in self._distinct()}}

    def calibrations_elsewhere(self) -> dict[str, float]:
        of_services = {machine.name: machine.calibrate_anywhere() for machine in self._distinct()}
        return {**self._servers.calibrations_elsewhere(), **of_services}

    def _distinct(self) -> list[Ssh]:
        """Return the services' machines, except the servers' machine and the machine of this process."""
        return [machine for machine in self._machines if machine.boot() not in (self.boot(), boot())]

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        by_machine: dict[int, list[Part]] = {}
        for part in parts:
            by_machine.setdefault(part.pid // PIDS, []).append(part)
        found = self._servers.usage(by_machine.pop(0, []), folder)
        for number, remote_parts in by_machine.items():
            own = [dataclasses.replace(part, pid=part.pid % PIDS) for part in remote_parts]
            for pid, usage in self._machines[number - 1].usage(own, folder).items():
                found[pid + number * PIDS] = dataclasses.replace(usage, pid=pid + number * PIDS)
        return found

    def cpu_s(self, pids: Iterable[int]) -> dict[int, float] | None:
        # Include only processes on the servers' machine, because a call to another machine uses the network.
        return self._servers.cpu_s(pid for pid in pids if pid < PIDS)


@dataclasses.dataclass(frozen=True)
class RemoteService:
    """The supervisord of a service. ``another`` is true if the service isn't on the servers' machine."""

    number: int
    supervised: AbstractContextManager[Supervised]
    another: bool


class OfOthers:
    """A service that someone else runs, with the interface of ``loadtests.hosts.base.Supervised``.

    The harness never starts or stops the service.
    """

    folder = Path()

    def __init__(self, service: Service, machine: Ssh) -> None:
        self._service = service
        port = service.port_of_others()
        if not (pid := machine.listener(port)):
            why = f"no visible process listens on port {port}"
            raise UserError(f"{machine.name}: {why}, which is the port in {service.variable}")
        self._programs = [Program(service.name, "RUNNING", pid, 0)]

    def start(self, group: str) -> None:
        pass

    def stop(self, group: str) -> None:
        pass

    def signal(self, pid: int, name: str) -> None:
        pass

    def programs(self, group: str) -> list[Program]:
        return self._programs

    def has(self, file: str) -> bool:
        return file == self._service.ready

    def read(self, file: str) -> str:
        raise UserError(f"someone else runs {self._service.label}, so its {file} can't be read")

    def logs(self) -> str:
        return ""


class CombinedSupervisor:
    """The servers' supervisord, and a supervisord for each remote service. See ``loadtests.hosts.base.Supervised``.

    A remote supervisord starts when its service is first used. All supervisords stop when ``stack`` is closed.
    """

    def __init__(self, servers: Supervised, remote: Mapping[str, RemoteService], stack: ExitStack) -> None:
        self.folder = servers.folder
        self._servers = servers
        self._remote = remote
        self._stack = stack
        self._started: dict[str, Supervised] = {}

    def start(self, group: str) -> None:
        if group in self._remote and group not in self._started:
            self._started[group] = self._stack.enter_context(self._remote[group].supervised)
        self._of(group).start(group)

    def stop(self, group: str) -> None:
        self._of(group).stop(group)

    def programs(self, group: str) -> list[Program]:
        programs = self._of(group).programs(group)
        if group not in self._started:
            return programs
        service = self._remote[group]
        above = (service.number + 1) * PIDS
        return [
            dataclasses.replace(program, pid=program.pid and program.pid + above, elsewhere=service.another)
            for program in programs
        ]

    def signal(self, pid: int, name: str) -> None:
        self._servers.signal(pid, name)

    def has(self, file: str) -> bool:
        return any(supervised.has(file) for supervised in (self._servers, *self._started.values()))

    def read(self, file: str) -> str:
        return self._servers.read(file)

    def logs(self) -> str:
        return "\n".join(filter(None, (supervised.logs() for supervised in (self._servers, *self._started.values()))))

    def _of(self, group: str) -> Supervised:
        return self._started.get(group, self._servers)
