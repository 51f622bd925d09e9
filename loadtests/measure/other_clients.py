"""Further machines that make the load, each a part of it, beside this one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from loadtests import engines
from loadtests.engines import Engine, node
from loadtests.engines.base import SharedEngine
from loadtests.engines.remote_process import afar
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.hosts.link import Address
from loadtests.observe.machine import boot
from loadtests.records.run.run_record import OtherClient
from loadtests.workload import Load

SCHEME = "ssh://"


@dataclass(frozen=True)
class Clients:
    """Their addresses; none where this machine makes all of it."""

    addresses: tuple[Address, ...] = ()

    @classmethod
    def parse(cls, text: str, servers: str | None) -> Clients:
        """From ``ssh://a,ssh://b``, for servers on the host that is named so. Raises UserError."""
        if servers is None:
            raise UserError("--clients is for servers on another machine; name it: --servers ssh://user@host")
        named = [one.strip() for one in text.split(",")]
        for one in named:
            if not one.startswith(SCHEME):
                raise UserError(f"--clients: {one!r}: write ssh://user@host, or several, with commas between")
        found = tuple(Address.parse(one.removeprefix(SCHEME)) for one in named)
        hosts = [*map(str, found), str(Address.parse(servers.removeprefix(SCHEME)))]
        if len(set(hosts)) < len(hosts):
            raise UserError("--clients: each client, and the machine of the servers, is another one")
        return cls(found)

    @property
    def machines(self) -> int:
        """How many machines make the load, this one among them."""
        return 1 + len(self.addresses)

    def engine(self, name: str) -> Engine:
        """The engine of that name, which makes its load on all of them. Raises UserError."""
        found = engines.get(name)
        if not self.addresses:
            return found
        if not isinstance(found, SharedEngine):
            raise UserError(f"the engine {name} makes its load on this machine alone; leave out --clients")
        return found.shared_with(self.addresses)

    def share(self, load: Load) -> Load:
        """The load with a process more for each of them. Raises UserError where it cannot be shared."""
        if not self.addresses:
            return load
        if load.processes > 1:
            raise UserError("with --clients each machine has one injector; leave out injectors")
        processes = load.processes + len(self.addresses)
        # Of users each has a connection of its own, whatever their number is.
        connections = load.connections if load.users is None else max(load.connection_count, processes)
        return dataclasses.replace(load, processes=processes, connections=connections)

    def look(
        self, host: Host, bind: str, port: int, allow_remote: bool, beside: Iterable[Host] = ()
    ) -> tuple[OtherClient, ...]:
        """What each of them is, and its way to a port of the servers' host, which has to prove there that it is it.
        Raises UserError, also where one of them, or of those ``beside`` it, is another by another name: what each took
        of it would be the other's disturbance."""
        if not self.addresses:
            return ()
        names = {one.boot(): one.name for one in (*beside, host) if one.boot() != boot()}
        found = []
        for address in self.addresses:
            seen, of_boot = _look(address, host, bind, port, allow_remote)
            if (other := names.get(of_boot)) is not None:
                raise UserError(f"--clients: {address} is the machine of {other}, by another name; leave it out")
            if not seen.same_machine:
                names[of_boot] = str(address)
            found.append(seen)
        return tuple(found)


ALONE = Clients()


def _look(address: Address, host: Host, bind: str, port: int, allow_remote: bool) -> tuple[OtherClient, str]:
    """What it is, and what tells it from other machines."""
    with afar(address, node.PROGRAM) as there:
        there.synchronize()
        way = host.require_reachable(bind, port, allow_remote, there.look)
        client = OtherClient(
            address=str(address),
            same_machine=there.about["boot"] == boot(),
            machine=there.about["machine"],
            round_trip_ms=way.round_trip_ms if way else None,
            megabits_per_s=way.megabits_per_s if way else None,
            clock_ahead_ms=round(there.ahead_ms, 3),
            clock_within_ms=round(there.within_ms, 3),
        )
        return client, there.about["boot"]
