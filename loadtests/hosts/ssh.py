"""Another machine, reached over SSH: an agent there (``loadtests.hosts.agent``) does what ``local`` does here."""

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

# The agent of an earlier run may still be ending what it started; after a lost connection it first has to miss us.
FREE_WITHIN_S, FREE_AGAIN_WITHIN_S = 15, 60
GREETED_WITHIN_S = 30.0
BACK_WITHIN_S = 300.0
PAUSE_S = 1.0
ENDED_WITHIN_S = 15.0  # where an agent was killed, the guards of what it started take a few seconds
PREPARED_WITHIN_S = 700.0  # longer than loadtests.setups.application takes for it
NETWORK_WITHIN_S = 60.0
CLOCK_LOOKS = 8


class Ssh:
    """A machine that ``hosts prepare`` has prepared, see ``loadtests.hosts.base.Host``."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address
        self._link: Link | None = None
        self._facts: AgentFacts | None = None
        self.network: Network | None = None
        self._ended_by = 0.0  # when what was started over a lost connection has to be gone

    @property
    def facts(self) -> AgentFacts:
        """The agent and its machine. Raises UserError."""
        self._linked()
        assert self._facts is not None
        return self._facts

    @property
    def same_machine(self) -> bool:
        """Whether it is this very machine."""
        return self.facts.boot == boot()

    def boot(self) -> str:
        return self.facts.boot

    def bind(self) -> str:
        if os.environ.get("BIND"):
            raise UserError("BIND is for servers on this machine; on another they listen where SSH came to: unset it")
        return self.listens_on()

    def listens_on(self) -> str:
        """The address there that SSH came to. Raises UserError."""
        if self.facts.ipv4 is None:
            raise UserError(
                f"{self.name}: SSH came to {self.facts.address}, and not every server can listen on an IPv6 "
                "address; name the host by an IPv4 address"
            )
        return self.facts.ipv4

    def address(self, bind: str) -> str:
        return bind

    def application(self, given: Application) -> Application:
        return RemoteApplication.of(given, self)

    def missing(self, needs: Iterable[str]) -> str | None:
        return self._call("missing", str, needs=list(needs)) or None

    def missing_for(self, setup: Setup) -> str | None:
        """What it lacks for a setup (see ``loadtests.setups.missing``)."""
        return self._call("missing_for", str, setup=setup.name) or None

    def prepare_sample(self) -> None:
        """Prepares the sample project there. Raises UserError."""
        self._call("prepare", NOTHING, PREPARED_WITHIN_S)

    def require_reachable(self, bind: str, port: int, allow_remote: bool, look: Look = network.look) -> Network | None:
        try:
            found = self.look(bind, port, look)
        except ConnectionLost:
            raise
        except UserError as error:
            if not allow_remote:
                raise UserError(f"{error}; with --allow-remote load goes there all the same") from None
            return None
        if look is network.look:
            self.network = found
        return found

    def look(self, bind: str, port: int, look: Look = network.look) -> Network:
        """The network to a port there, which has to prove that it is the host that SSH came to. Raises UserError."""
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
        return None  # each question crosses the network on which the load is

    def moment(self, cores: Sequence[int]) -> Moment:
        return self._call("moment", Moment, cores=list(cores))

    def top_processes(self) -> Takers:
        return self._call("top_processes", Takers)

    def calibrate(self, core: int) -> float:
        return self._call("calibrate", float, core=core)

    def listener(self, port: int) -> int:
        """The pid of the process that listens there on that port; 0 where none is seen."""
        return self._call("listener", int, port=port)

    def calibrate_anywhere(self) -> float:
        """``calibrate`` on its first core."""
        return self._call("calibrate", float, core=None)

    def others(self) -> OthersMoment:
        """The work of others on all of its cores so far."""
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
        """What ``doctor`` finds there, without engines: level, finding and remedy."""
        return self._call("doctor", list[tuple[Level, str, str]])

    def clock(self) -> Clock:
        """Its clock, by the quickest of several looks."""
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
        """What a person should know before load goes there."""
        remarks = []
        if self.same_machine:
            remarks.append(f"{self.name} is this very machine, so generator and servers share it")
        address = ipaddress.ip_address(self.listens_on())
        if public(address):
            remarks.append(
                f"the servers listen on {address}, which is public: while this runs, whoever reaches it can use them; "
                "they have a secret key of their own, and are made for measuring, not for the open"
            )
        return tuple(remarks)

    def close(self) -> None:
        """Ends the agent, if there is one, and waits for that."""
        if self._link is not None:
            self._link.close()

    def _call(self, method: str, kind: type[T], within_s: float = ANSWERED_WITHIN_S, **arguments: Any) -> T:
        return self._linked().call(method, kind, within_s, **arguments)

    def _linked(self) -> Link:
        """The connection, made anew after a loss. Raises UserError."""
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
    """The generator's core here, where the servers run elsewhere."""
    return cores.all_of()[-1:]


def at(address: str) -> Ssh:
    """The machine at ``user@host:port``. Raises UserError; goes there with the first question."""
    return Ssh(Address.parse(address))


def public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether it can be reached from anywhere."""
    return not (address.is_private or address.is_loopback or address.is_link_local)
