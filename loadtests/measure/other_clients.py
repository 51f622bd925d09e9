"""Further machines that make a part of the load each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from loadtests import engines
from loadtests.engines import Engine, node
from loadtests.engines.base import SharedEngine
from loadtests.engines.remote_process import start_remote
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.hosts.link import Address
from loadtests.measure.host_options import SCHEME
from loadtests.observe.machine import boot
from loadtests.records.run.run_record import OtherClient
from loadtests.workload import Load


@dataclass(frozen=True)
class Clients:
    """Their addresses; none where this machine makes all of the load."""

    addresses: tuple[Address, ...] = ()

    @classmethod
    def parse(cls, text: str, servers: str | None) -> Clients:
        """From ``ssh://a,ssh://b``, with servers on another host. Raises UserError."""
        if servers is None:
            raise UserError("--clients is for servers on another machine; name it: --servers ssh://user@host")
        urls = [one.strip() for one in text.split(",")]
        for url in urls:
            if not url.startswith(SCHEME):
                raise UserError(f"--clients: {url!r}: write ssh://user@host, or several, with commas between")
        *found, server = [Address.parse(url.removeprefix(SCHEME)) for url in (*urls, servers)]
        if len({str(server), *map(str, found)}) <= len(found):
            raise UserError("--clients: each client, and the machine of the servers, is another one")
        return cls(tuple(found))

    @property
    def machines(self) -> int:
        """The number of machines that make the load, this one included."""
        return 1 + len(self.addresses)

    def engine(self, name: str) -> Engine:
        """The engine of that name, with its load made on all of them. Raises UserError."""
        found = engines.get(name)
        if not self.addresses:
            return found
        if not isinstance(found, SharedEngine):
            raise UserError(f"the engine {name} makes its load on this machine alone; leave out --clients")
        return found.shared_with(self.addresses)

    def share(self, load: Load) -> Load:
        """The load with one more process for each of them. Raises UserError where it cannot be shared."""
        if not self.addresses:
            return load
        if load.processes > 1:
            raise UserError("with --clients each machine has one injector; leave out injectors")
        # Each user has a connection, whatever their number is.
        connections = load.connections if load.users is None else max(load.connection_count, self.machines)
        return dataclasses.replace(load, processes=self.machines, connections=connections)

    def look(
        self, host: Host, bind: str, port: int, allow_remote: bool, service_hosts: Iterable[Host] = ()
    ) -> tuple[OtherClient, ...]:
        """Describes each, and its way to a port of the servers' host, which must prove its identity there. Raises
        UserError, also where one is another client's, a service's or the servers' machine by another name: each would
        count the other's load as other load."""
        if not self.addresses:
            return ()
        names = {one.boot(): one.name for one in (*service_hosts, host) if one.boot() != boot()}
        found = []
        for address in self.addresses:
            client, booted = _look(address, host, bind, port, allow_remote)
            if (other := names.get(booted)) is not None:
                raise UserError(f"--clients: {address} is the machine of {other}, by another name; leave it out")
            if not client.same_machine:
                names[booted] = str(address)
            found.append(client)
        return tuple(found)


def _look(address: Address, host: Host, bind: str, port: int, allow_remote: bool) -> tuple[OtherClient, str]:
    """Its record, and its boot id, which no other machine has."""
    with start_remote(address, node.PROGRAM) as there:
        there.synchronize()
        way = host.require_reachable(bind, port, allow_remote, there.look)
        client = OtherClient(
            address=str(address),
            same_machine=there.about["boot"] == boot(),
            machine=there.about["machine"],
            round_trip_ms=way.round_trip_ms if way else None,
            megabits_per_s=way.megabits_per_s if way else None,
            clock_ahead_ms=round(there.ahead_ms, 3),
            clock_uncertainty_ms=round(there.within_ms, 3),
        )
        return client, there.about["boot"]
