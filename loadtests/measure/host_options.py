"""Read the hosts of a run from options or a hosts file.

The hosts are the servers, the clients that generate a part of the load (``clients.py``), and the separate machines of
services.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from loadtests.errors import UserError, unknown
from loadtests.hosts import Host
from loadtests.hosts.link import Address
from loadtests.hosts.network import Network
from loadtests.hosts.ssh import Ssh, public
from loadtests.hosts.with_services import WithServices
from loadtests.records import decode
from loadtests.records.run.run_record import ExpectedWorkers, RunRecord, ServiceHost
from loadtests.setups import services
from loadtests.setups.services import Service

SUFFIX = ".toml"
SCHEME = "ssh://"
SERVERS = "servers"


class HostsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hosts file.

    For example::

        servers = "ssh://bench@10.0.0.2"
        clients = ["ssh://bench@10.0.0.3"]
        services = { redis = "ssh://bench@10.0.0.4" }
    """

    servers: Annotated[str | None, Meta(description="The host of the servers: ssh://user@host.")] = None
    clients: Annotated[list[str], Meta(description="The hosts that generate a part of the load.")] = []
    services: Annotated[dict[str, str], Meta(description="The hosts of services, by service name.")] = {}


@dataclasses.dataclass(frozen=True)
class HostOptions:
    """The hosts of a run, in the format of the command-line options. None means that an option isn't set.

    Args:
        servers: The host of the servers, such as ``ssh://a``.
        clients: The hosts that generate a part of the load, such as ``ssh://b,ssh://c``.
        services: The hosts of services, such as ``redis=ssh://d``.
        of_file: Whether the hosts come from a hosts file.
        workers: The number of workers that users start, and where the workers connect.
    """

    servers: str | None = None
    clients: str | None = None
    services: str | None = None
    of_file: bool = False
    workers: ExpectedWorkers | None = None

    @classmethod
    def of(
        cls,
        servers: str | None,
        clients: str | None,
        services: str | None,
        file: Path | None,
        workers: ExpectedWorkers | None = None,
    ) -> HostOptions:
        """Combine the command-line options, or read all hosts from a hosts file instead.

        Raises:
            UserError: If the options contradict each other, or the file isn't valid.
        """
        options = cls(servers, clients, services)
        if file is not None:
            if options != cls():
                raise UserError(f"{file} contains all hosts. Leave out --servers, --clients and --services")
            options = cls.read(file)
        if workers and options.clients:
            raise UserError("--expect-workers: the workers generate the whole load. Leave out the clients")
        return dataclasses.replace(options, workers=workers)

    @classmethod
    def read(cls, file: Path) -> HostOptions:
        """Read a hosts file.

        Raises:
            UserError: If the file isn't valid.
        """
        table = decode.convert(decode.read_toml(file), HostsTable, str(file))
        services = _joined(f"{name}={on}" for name, on in table.services.items())
        return cls(table.servers, _joined(table.clients), services, of_file=True)

    @classmethod
    def of_record(cls, record: RunRecord) -> HostOptions:
        """Return the hosts of an existing run."""
        return cls(
            record.servers.address if record.servers else None,
            _joined(one.address for one in record.clients if record.workers is None),
            _joined(f"{one.service}={one.address}" for one in record.service_hosts),
            workers=record.workers,
        )

    @property
    def machines(self) -> list[tuple[str, str]]:
        """The role (``servers``, ``clients`` or ``services``) and the address of each machine except this machine."""
        found = [(SERVERS, self.servers)] if self.servers else []
        found += [("clients", one) for one in _split(self.clients)]
        return found + [("services", one.partition("=")[2]) for one in _split(self.services)]


def machines(where: str) -> list[tuple[str, str]]:
    """Return the roles and addresses of all machines in a hosts file, or of a single server machine.

    Args:
        where: The path of the hosts file, or the address of the machine.

    Raises:
        UserError: If the file isn't valid or contains no machine.
    """
    if not (where.endswith(SUFFIX) or Path(where).is_file()):
        return [(SERVERS, where)]
    if not (found := HostOptions.read(Path(where)).machines):
        raise UserError(f'{where} contains no machines. Add servers = "ssh://user@host"')
    return found


def _joined(texts: Iterable[str]) -> str | None:
    return ",".join(texts) or None


def _split(text: str | None) -> list[str]:
    return text.split(",") if text else []


@dataclasses.dataclass(frozen=True)
class ServiceHosts:
    """The separate machines of services, or no machines if all services run on the servers' machine.

    ``needed`` means that a study must use all of these services.
    """

    machines: Mapping[Service, Ssh] = dataclasses.field(default_factory=dict)
    needed: bool = True

    @classmethod
    def parse(cls, options: HostOptions, clients: tuple[Address, ...]) -> ServiceHosts:
        """Parse services and their machines, such as ``redis=ssh://c``. Servers and clients must be on other machines.

        Raises:
            UserError: If the options aren't valid.
        """
        known = services.known()
        able = [name for name, service in known.items() if service.elsewhere or service.of_others]
        found: dict[Service, Ssh] = {}
        taken = {*map(str, clients)}
        if options.servers:
            taken.add(str(Address.parse(options.servers.removeprefix(SCHEME))))
        for one in (options.services or "").split(","):
            name, _, where = one.strip().partition("=")
            if not where.startswith(SCHEME):
                raise UserError(f"--services: {one.strip()!r} is not service=machine. Write redis=ssh://user@host")
            if name in {service.name for service in found}:
                raise UserError(f"--services: {name} occurs twice. A service can only run on one machine")
            if name not in able:
                raise UserError(f"--services: {unknown('service that can run on a separate machine', name, able)}")
            if known[name].of_others:
                known[name].port_of_others()
            address = Address.parse(where.removeprefix(SCHEME))
            if str(address) in taken:
                raise UserError("--services: the services, the servers and the clients must be on different machines")
            taken.add(str(address))
            found[known[name]] = Ssh(address)
        return cls(found, needed=not options.of_file)

    def used_by(self, names: Collection[str]) -> ServiceHosts:
        """Return only the machines of services that a study uses. ``names`` contains the services of the study.

        Raises:
            UserError: If the study must use all services (``needed``), but a service isn't in ``names``.
        """
        for service in self.machines if self.needed else ():
            if service.name not in names:
                raise UserError(f"--services: the study doesn't use {service.name}. Leave it out")
        used = {service: machine for service, machine in self.machines.items() if service.name in names}
        return dataclasses.replace(self, machines=used)

    def attached_to(self, servers: Host) -> Host:
        """Return the servers' host, with these services on their separate machines."""
        return WithServices(servers, self.machines) if self.machines else servers

    def look(self, servers: Host, port: int, allow_remote: bool) -> tuple[ServiceHost, ...]:
        """Describe each machine, and its network to the servers. Each machine must prove its identity.

        Raises:
            UserError: If a machine can't be used.
        """
        return tuple(
            _service_host(service, there, servers, port, allow_remote) for service, there in self.machines.items()
        )


def _service_host(service: Service, there: Ssh, servers: Host, port: int, allow_remote: bool) -> ServiceHost:
    if not service.of_others and (lacks := there.missing(service.needs)) is not None:
        raise UserError(f"the service {service.name} on {there.name}: {lacks}")

    def look(host: str, address: tuple[str, int], token: str, client: str) -> Network:
        # The servers' machine connects to the service's machine, whose firewall may allow only the servers' address.
        return servers.network_to(host, address, token, client if servers.name == "local" else servers.bind())

    bind = there.listens_on()
    if there.boot() == servers.boot() and servers.bind() in (bind, "0.0.0.0"):
        why = "is also the servers' machine"
        raise UserError(f"{there.name} {why}. Leave out --services {service.name}={there.name}")
    try:
        way = there.require_reachable(bind, port, allow_remote, look)
    except UserError as error:
        raise UserError(f"from the servers: {error}") from None
    return ServiceHost(
        service=service.name,
        address=there.name,
        listens_on=bind,
        same_machine=there.same_machine,
        machine=there.machine(),
        version=None if service.of_others else there.versions().get(service.name),
        round_trip_ms=way.round_trip_ms if way else None,
        megabits_per_s=way.megabits_per_s if way else None,
        remarks=tuple(_remarks_on(service, there, bind)),
    )


def _remarks_on(service: Service, there: Ssh, bind: str) -> Iterator[str]:
    whose = f"{service.label} on {there.name}"
    if service.of_others:
        yield f"{whose} is the server that {service.variable} names, so its CPU time includes work for other clients"
    elif public(ipaddress.ip_address(bind)):
        yield (
            f"{whose} listens on {bind}, which is a public address. It requires a password, but the password and "
            f"all data cross the network unencrypted"
        )
