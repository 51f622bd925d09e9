"""Services on machines of their own, apart from servers and load generators."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
from collections.abc import Collection, Mapping

from loadtests.errors import UserError, unknown
from loadtests.hosts import Host
from loadtests.hosts.link import Address
from loadtests.hosts.network import Network
from loadtests.hosts.ssh import Ssh, public
from loadtests.hosts.with_services import WithServices
from loadtests.measure.host_options import SCHEME, HostOptions
from loadtests.records.run.run_record import ServiceHost
from loadtests.setups import services
from loadtests.setups.services import Service


@dataclasses.dataclass(frozen=True)
class ServiceHosts:
    """The services' machines; none where all services run on the servers' machine. ``needed``: a study must use each
    of them."""

    machines: Mapping[Service, Ssh] = dataclasses.field(default_factory=dict)
    needed: bool = True

    @classmethod
    def parse(cls, options: HostOptions, clients: tuple[Address, ...]) -> ServiceHosts:
        """From ``redis=ssh://c``, with servers and clients on other machines. Raises UserError."""
        known = services.known()
        able = [name for name, service in known.items() if service.elsewhere]
        found: dict[Service, Ssh] = {}
        taken = {*map(str, clients)}
        if options.servers:
            taken.add(str(Address.parse(options.servers.removeprefix(SCHEME))))
        for one in (options.services or "").split(","):
            name, _, where = one.strip().partition("=")
            if not where.startswith(SCHEME):
                raise UserError(f"--services: {one.strip()!r}: write a service and its machine: redis=ssh://user@host")
            if name in {service.name for service in found}:
                raise UserError(f"--services: {name} is named twice; a service has one machine")
            if name not in able:
                raise UserError(f"--services: {unknown('service that can be on a machine of its own', name, able)}")
            address = Address.parse(where.removeprefix(SCHEME))
            if str(address) in taken:
                raise UserError("--services: each service, the servers and each client is on another machine")
            taken.add(str(address))
            if (variable := known[name].variable) in os.environ:
                raise UserError(f"--services: {variable} names another {known[name].label} already; unset it")
            found[known[name]] = Ssh(address)
        return cls(found, needed=not options.of_file)

    def used_by(self, names: Collection[str]) -> ServiceHosts:
        """Those of the services of a study. Raises UserError where one is needed and the study does not use it."""
        for service in self.machines if self.needed else ():
            if service.name not in names:
                raise UserError(f"--services: no setup of the study asks for {service.name}; leave it out")
        used = {service: machine for service, machine in self.machines.items() if service.name in names}
        return dataclasses.replace(self, machines=used)

    def attached_to(self, servers: Host) -> Host:
        """The servers' host, with these services on their machines."""
        return WithServices(servers, self.machines) if self.machines else servers

    def look(self, servers: Host, port: int, allow_remote: bool) -> tuple[ServiceHost, ...]:
        """Describes each, and the way to it from the servers, where it must prove its identity. Raises UserError."""
        return tuple(_look(service, there, servers, port, allow_remote) for service, there in self.machines.items())


def _look(service: Service, there: Ssh, servers: Host, port: int, allow_remote: bool) -> ServiceHost:
    if (lacks := there.missing(service.needs)) is not None:
        raise UserError(f"the service {service.name} on {there.name}: {lacks}")

    def look(host: str, address: tuple[str, int], token: str, client: str) -> Network:
        # From the servers, whose address a firewall there lets through.
        return servers.network_to(host, address, token, client if servers.name == "local" else servers.bind())

    bind = there.listens_on()
    if there.boot() == servers.boot() and servers.bind() in (bind, "0.0.0.0"):
        why = "is the servers' own machine, by its own address"
        raise UserError(f"{there.name} {why}; leave out --services {service.name}={there.name}")
    try:
        way = there.require_reachable(bind, port, allow_remote, look)
    except UserError as error:
        raise UserError(f"from the servers: {error}") from None
    remark = (
        f"{service.label} on {there.name} listens on {bind}, which is public: it wants a password, which crosses the "
        "network unencrypted, as all that the servers tell it does"
    )
    return ServiceHost(
        service=service.name,
        address=there.name,
        listens_on=bind,
        same_machine=there.same_machine,
        machine=there.machine(),
        version=there.versions().get(service.name),
        round_trip_ms=way.round_trip_ms if way else None,
        megabits_per_s=way.megabits_per_s if way else None,
        remarks=(remark,) if public(ipaddress.ip_address(bind)) else (),
    )
