"""Use another machine over SSH. An agent on that machine (``loadtests.hosts.agent``) works like ``local``."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from loadtests import setups
from loadtests.errors import UserError
from loadtests.hosts import deploy, network
from loadtests.hosts.base import ConnectionLost
from loadtests.hosts.link import ANSWERED_WITHIN_S, CONNECT_S, Address, Link
from loadtests.hosts.network import Clock, Look, Network
from loadtests.hosts.remote_supervisor import NOTHING, RemoteSupervisor
from loadtests.hosts.wire import AgentFacts
from loadtests.observe import calibration, cores, machine, other_load
from loadtests.observe.conditions import Moment
from loadtests.observe.cores import Cores
from loadtests.observe.machine import Description, Versions, boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.observe.top_processes import Takers
from loadtests.records.run.run_record import Git, OtherHost
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.setups.application.remote_application import RemoteApplication

T = TypeVar("T")
Level = Literal["ok", "warning", "error"]

# The agent of an earlier run may still be stopping its processes. After a lost connection, the agent must first notice
# the loss.
FREE_WITHIN_S, FREE_AGAIN_WITHIN_S = 15, 60
GREETED_WITHIN_S = 30.0
BACK_WITHIN_S = 300.0
PAUSE_S = 1.0
ENDED_WITHIN_S = 15.0  # After an agent is killed, the guards need a few seconds to end its processes.
PREPARED_WITHIN_S = 700.0  # This time is longer than the limit in loadtests.setups.application.
NETWORK_WITHIN_S = 60.0
CLOCK_LOOKS = 8


class Ssh:
    """A machine that ``hosts prepare`` has prepared. See ``loadtests.hosts.base.Host``."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address
        self._link: Link | None = None
        self._facts: AgentFacts | None = None
        self.network: Network | None = None
        self._ended_by = 0.0  # the time by which the processes of a lost connection must have ended

    @property
    def facts(self) -> AgentFacts:
        """The facts about the agent and its machine.

        Raises:
            UserError: If the machine can't be reached.
        """
        self._linked()
        assert self._facts is not None
        return self._facts

    @property
    def same_machine(self) -> bool:
        """Whether SSH leads back to this machine."""
        return self.facts.boot == boot()

    def boot(self) -> str:
        return self.facts.boot

    def bind(self) -> str:
        if os.environ.get("BIND"):
            raise UserError("BIND only works for servers on this machine. Unset BIND")
        return self.listens_on()

    def listens_on(self) -> str:
        """Return the IPv4 address of the network interface that SSH connected to.

        Raises:
            UserError: If the interface has no IPv4 address.
        """
        if self.facts.ipv4 is None:
            raise UserError(
                f"{self.name}: SSH connected to {self.facts.address}, but not every server can listen on an IPv6 "
                f"address. Use the host's IPv4 address"
            )
        return self.facts.ipv4

    def address(self, bind: str) -> str:
        return bind

    def application(self, given: Application) -> Application:
        return RemoteApplication.of(given, self)

    def missing(self, needs: Iterable[str]) -> str | None:
        return self._call("missing", str, needs=list(needs)) or None

    def missing_for(self, setup: Setup) -> str | None:
        """Describe the software that the machine lacks for a setup (see ``loadtests.setups.missing``)."""
        return self._call("missing_for", str, setup=setup.group) or None

    def prepare_sample(self) -> None:
        """Prepare the sample project on the machine.

        Raises:
            UserError: If the preparation fails.
        """
        self._call("prepare", NOTHING, PREPARED_WITHIN_S)

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        try:
            found = self.look(bind, port, look)
        except ConnectionLost:
            raise
        except UserError as error:
            if not allow_remote:
                raise UserError(f"{error}. To send load to it anyway, add --allow-remote") from None
            return None
        if look is network.look:
            self.network = found
        return found

    def look(self, bind: str, port: int, look: Look = network.look) -> Network:
        """Measure the network to a port on the other machine, and check that SSH reached the same machine.

        Raises:
            UserError: If the port can't be reached, or belongs to another machine.
        """
        self._call("prove", NOTHING, bind=bind, port=port)
        try:
            return look(self.name, (self.address(bind), port), self.facts.token, self.facts.client)
        finally:
            if self._link is not None and self._link.alive:
                self._call("end_proof", NOTHING)

    def network_to(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        return self._call(
            "network_to", Network, NETWORK_WITHIN_S, host=host, address=address, token=token, client=client
        )

    def require_free(self, bind: str, port: int) -> None:
        while True:
            try:
                self._call("require_free", NOTHING, bind=bind, port=port)
                return
            except ConnectionLost:
                raise
            except UserError:
                if time.monotonic() > self._ended_by:
                    raise
            time.sleep(PAUSE_S)

    def supervise(self, env: Mapping[str, str]) -> RemoteSupervisor:
        return RemoteSupervisor(self._linked(), env)

    def parts(self) -> list[Part]:
        return list(self.facts.parts)

    def usage(self, parts: Iterable[Part], folder: Path) -> dict[int, Usage]:
        return self._call("usage", dict[int, Usage], parts=list(parts), folder=str(folder))

    def cpu_s(self, pids: Iterable[int]) -> None:
        return None  # each call would use the network that carries the load

    def moment(self, cores: Sequence[int]) -> Moment:
        return self._call("moment", Moment, cores=list(cores))

    def top_processes(self) -> Takers:
        return self._call("top_processes", Takers)

    def calibrate(self, core: int) -> float:
        return self._call("calibrate", float, core=core)

    def listener(self, port: int) -> int:
        """Return the pid of the process that listens on a port of the machine, or 0 if there is no such process."""
        return self._call("listener", int, port=port)

    def calibrate_anywhere(self) -> float:
        """Run ``calibrate`` on the machine's first core."""
        return self._call("calibrate", float, core=None)

    def others(self) -> OthersMoment:
        """Return the work that other programs have done so far on all cores of the machine."""
        return self._call("others", OthersMoment)

    def load_elsewhere(self) -> dict[str, OthersMoment]:
        if self.same_machine:
            return {}
        return {"": other_load.moment(_generator_cores(), [Part("harness", os.getpid())])}

    def calibrations_elsewhere(self) -> dict[str, float]:
        return {} if self.same_machine else {"": calibration.calibrate(_generator_cores()[0])}

    def allot(self, requested: str | None) -> Cores:
        if self.same_machine:
            return self._call("allot", Cores, requested=requested)
        servers = self._call("all_cores", tuple[int, ...], requested=requested)
        return Cores(servers, _generator_cores(), machines=2)

    def machine(self) -> dict[str, Any]:
        return dict(self._call("machine", Description))

    def free_memory_mb(self) -> int:
        return self._call("free_memory_mb", int)

    def versions(self) -> dict[str, Any]:
        return dict(self._call("versions", Versions))

    def findings(self) -> list[tuple[Level, str, str]]:
        """Return the level, text and remedy of ``doctor``'s findings on the machine, except findings about engines."""
        return self._call("doctor", list[tuple[Level, str, str]])

    def clock(self) -> Clock:
        """Read the machine's clock several times, and return the reading with the shortest round trip."""
        looks = []
        for _ in range(CLOCK_LOOKS):
            begun, before = time.monotonic(), time.time()
            there = self._call("clock", float)
            half = (time.monotonic() - begun) / 2
            looks.append((half, there - before - half))
        half, ahead = min(looks)
        return Clock(ahead, half)

    def other_host(self) -> OtherHost | None:
        clock = self.clock()
        return OtherHost(
            address=self.name,
            listens_on=self.bind(),
            same_machine=self.same_machine,
            git=Git(self.facts.revision, self.facts.dirty),
            round_trip_ms=self.network.round_trip_ms if self.network else None,
            megabits_per_s=self.network.megabits_per_s if self.network else None,
            clock_ahead_ms=round(clock.ahead_s * 1000, 3),
            clock_uncertainty_ms=round(clock.within_s * 1000, 3),
            remarks=self.remarks(),
            generator=machine.describe(),
        )

    def remarks(self) -> tuple[str, ...]:
        """Return the remarks that users should read before load is sent to the machine."""
        remarks = []
        if self.same_machine:
            remarks.append(f"{self.name} is this machine, so the load generator and the servers share it")
        address = ipaddress.ip_address(self.listens_on())
        if public(address):
            remarks.append(
                f"the servers listen on the public address {address}. During the run, anyone who can reach this "
                "address can use the servers. The servers have a separate secret key, but aren't protected like "
                "servers in production"
            )
        return tuple(remarks)

    def close(self) -> None:
        """Stop the agent, if it is running, and wait until it has ended."""
        if self._link is not None:
            self._link.close()

    def _call(self, method: str, kind: type[T], within_s: float = ANSWERED_WITHIN_S, **arguments: Any) -> T:
        return self._linked().call(method, kind, within_s, **arguments)

    def _linked(self) -> Link:
        """Return the connection. After a loss, open a new connection.

        Raises:
            UserError: If the connection can't be opened.
        """
        if self._link is None:
            self._link = self._connected(FREE_WITHIN_S)
        elif not self._link.alive:
            self._link = self._reconnected()
        return self._link

    def _reconnected(self) -> Link:
        end = time.monotonic() + BACK_WITHIN_S
        while True:
            try:
                link = self._connected(FREE_AGAIN_WITHIN_S)
                self._ended_by = time.monotonic() + ENDED_WITHIN_S
                return link
            except UserError:
                if time.monotonic() > end:
                    raise
            time.sleep(PAUSE_S)

    def _connected(self, free_within_s: int) -> Link:
        link = Link(self._address, [str(free_within_s)], CONNECT_S + free_within_s + GREETED_WITHIN_S)
        knobs = {name: os.environ[name] for name in (*setups.KNOBS, "DATABASE_URL") if name in os.environ}
        try:
            self._facts = link.call("begin", AgentFacts, knobs=knobs)
            deploy.require_same(self._address, self._facts.files)
        except BaseException:
            link.close()
            raise
        return link


def _generator_cores() -> tuple[int, ...]:
    """Return the generator's core on this machine if the servers run on another machine."""
    return cores.all_of()[-1:]


def at(address: str) -> Ssh:
    """Return the machine at ``user@host:port``. The first call of a method opens the connection.

    Raises:
        UserError: If the address isn't valid.
    """
    return Ssh(Address.parse(address))


def public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Return whether an address is public, so that any machine may reach it."""
    return not (address.is_private or address.is_loopback or address.is_link_local)
