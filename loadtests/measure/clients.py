"""Generate load on other machines, over SSH or with workers that users start."""

from __future__ import annotations

import dataclasses

from loadtests import engines
from loadtests.engines import Engine, cluster, node
from loadtests.engines.base import Others, SharedEngine
from loadtests.engines.cluster import Worker
from loadtests.engines.expected import Expected
from loadtests.errors import UserError, require_within, shown
from loadtests.hosts import Host
from loadtests.hosts.link import Address
from loadtests.measure.host_options import SCHEME, HostOptions
from loadtests.observe.machine import boot
from loadtests.records import decode
from loadtests.records.run.run_record import ExpectedWorkers, OtherClient
from loadtests.workload import Load
from loadtests.workload.load import MAX_PROCESSES

LOCUST_PORT = 5557


def expected_workers(
    expect_workers: int, master_bind: str = f"127.0.0.1:{LOCUST_PORT}", expect_workers_max_wait: str = "5m"
) -> ExpectedWorkers:
    """Parse the options for workers that users start.

    Raises:
        UserError: If a value isn't valid.
    """
    require_within("--expect-workers", expect_workers, 1, MAX_PROCESSES)
    host, port = host_and_port(master_bind, "--master-bind")
    return ExpectedWorkers(expect_workers, f"{host}:{port}", decode.duration(expect_workers_max_wait))


def host_and_port(text: str, whose: str) -> tuple[str, int]:
    """Parse an address such as ``10.0.0.1:5557``. The default port is Locust's default port.

    Raises:
        UserError: If the address isn't valid.
    """
    host, _, port = text.partition(":")
    if not host or not (port or str(LOCUST_PORT)).isdecimal() or not 0 <= int(port or LOCUST_PORT) <= 65_535:
        raise UserError(f"{whose} {shown(text)}: must be an IPv4 address or name, and a port: 10.0.0.1:{LOCUST_PORT}")
    return host, int(port or LOCUST_PORT)


@dataclasses.dataclass(frozen=True)
class Clients:
    """The other machines that generate load.

    Machines over SSH generate the load together with this machine. The ``workers`` that users start generate the whole
    load. Without other machines or workers, this machine generates the load.
    """

    others: Others = ()
    workers: ExpectedWorkers | None = None

    @classmethod
    def parse(cls, options: HostOptions) -> Clients:
        """Parse the clients, such as ``ssh://a,ssh://b``, or the options for workers that users start.

        Raises:
            UserError: If the options aren't valid.
        """
        if options.workers is not None:
            one = options.workers
            return cls(Expected(one.count, *host_and_port(one.bind, "--master-bind"), one.max_wait_s), one)
        if options.clients is None:
            return cls()
        if options.servers is None:
            raise UserError("--clients only works with servers on another machine. Add --servers ssh://user@host")
        urls = [one.strip() for one in options.clients.split(",")]
        for url in urls:
            if not url.startswith(SCHEME):
                raise UserError(f"--clients: {url!r} is not an SSH address. Write ssh://user@host or ssh://a,ssh://b")
        *found, server = [Address.parse(url.removeprefix(SCHEME)) for url in (*urls, options.servers)]
        if len({str(server), *map(str, found)}) <= len(found):
            raise UserError("--clients: all clients and the servers must be different machines")
        return cls(tuple(found))

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The addresses of the machines that are reached over SSH."""
        return self.others if isinstance(self.others, tuple) else ()

    @property
    def parts(self) -> int:
        """The number of parts of the load, including this machine's part."""
        return len(self.others) + (self.workers is None)

    @property
    def at_hand(self) -> Clients:
        """The clients that are available now. Workers that users start are available only after they connect."""
        return self if self.workers is None else Clients()

    def engine(self, name: str) -> Engine:
        """Return an engine that generates load on all clients.

        Raises:
            UserError: If the engine only supports this machine.
        """
        found = engines.get(name)
        if not self.others:
            return found
        if not isinstance(found, SharedEngine):
            option = "--expect-workers" if self.workers else "--clients"
            raise UserError(f"the engine {name} only generates load on this machine. Leave out {option}")
        return found.shared_with(self.others)

    def share(self, load: Load) -> Load:
        """Return the load, divided among the clients and this machine.

        Raises:
            UserError: If the load uses several injectors.
        """
        if not self.others:
            return load
        if load.processes > 1:
            where = "with --expect-workers, each worker" if self.workers else "with --clients, each machine"
            raise UserError(f"{where} uses one injector. Leave out the number of injectors")
        # Each user has a connection, and each part of the load needs at least one connection.
        connections = load.connections if load.users is None else max(load.connection_count, self.parts)
        return dataclasses.replace(load, processes=self.parts, connections=connections)

    def look(self, host: Host, bind: str, port: int, allow_remote: bool) -> tuple[OtherClient, ...]:
        """Describe each client, and the network between the client and a port of the servers' host.

        The servers' host must prove its identity. Workers that users start may share a machine.

        Raises:
            UserError: If a client can't reach the port, or shares its machine with another client or the servers. On a
                shared machine, each program would count the other program's work as other load.
        """
        if not self.others:
            return ()
        names = {host.boot(): host.name} if host.boot() != boot() else {}
        found = []
        groups: list[Others] = [(one,) for one in self.addresses]
        for group in groups or [self.others]:
            with cluster.workers(node.PROGRAM, None, group) as workers:
                for there in workers:
                    client = _client(there, host, bind, port, allow_remote)
                    if (other := names.get(there.about.boot)) is not None:
                        whose = f"--clients: {there.where} and {other} are the same machine"
                        raise UserError(f"{whose}. Leave out this client")
                    if self.addresses and not client.same_machine:
                        names[there.about.boot] = there.where
                    found.append(client)
        return tuple(found)


def _client(there: Worker, host: Host, bind: str, port: int, allow_remote: bool) -> OtherClient:
    there.synchronize()
    way = host.require_reachable(bind, port, allow_remote, there.look)
    return OtherClient(
        address=there.where,
        same_machine=there.about.boot == boot(),
        machine=dict(there.about.machine),
        round_trip_ms=way.round_trip_ms if way else None,
        megabits_per_s=way.megabits_per_s if way else None,
        clock_ahead_ms=round(there.ahead_ms, 3),
        clock_uncertainty_ms=round(there.within_ms, 3),
    )
