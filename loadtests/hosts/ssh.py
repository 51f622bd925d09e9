"""Use another machine over SSH. An agent on that machine (``loadtests.hosts.agent``) works like ``local``."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

from loadtests import setups
from loadtests.errors import UserError
from loadtests.hosts import deploy, network
from loadtests.hosts.base import ConnectionLost, Program
from loadtests.hosts.link import ANSWERED_WITHIN_S, CONNECT_S, Address, Link
from loadtests.hosts.local import Host
from loadtests.hosts.network import Look, Network
from loadtests.hosts.wire import AgentFacts
from loadtests.observe import calibration, cores, machine, other_load
from loadtests.observe.conditions import Moment
from loadtests.observe.cores import Cores
from loadtests.observe.machine import boot
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part, Usage
from loadtests.observe.top_processes import Takers
from loadtests.records.run.run_record import Git, OtherHost
from loadtests.setups import Setup
from loadtests.setups.application import Application

T = TypeVar("T")
NOTHING = type(None)
Level = Literal["ok", "warning", "error"]

# The agent of an earlier run may still be stopping its processes. After a lost connection, the agent must first notice
# the loss.
FREE_WITHIN_S, FREE_AGAIN_WITHIN_S = 15, 60
GREETED_WITHIN_S = 30.0
BACK_WITHIN_S = 300.0
PAUSE_S = 1.0
ENDED_WITHIN_S = 15.0  # After an agent is killed, the guards need a few seconds to end its processes.
PREPARED_WITHIN_S = 700.0  # This time is longer than the limit in loadtests.setups.application.


class Ssh(Host):
    """A machine that ``hosts prepare`` has prepared."""

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
        if ":" in self.facts.address:
            raise UserError(
                f"{self.name}: SSH connected to {self.facts.address}, but not every server can listen on an IPv6 "
                f"address. Use the host's IPv4 address"
            )
        return self.facts.address

    def address(self, bind: str) -> str:
        return bind

    def application(self, given: Application) -> Application:
        return dataclasses.replace(given, remote=self)

    def missing(self, needs: Collection[str]) -> str | None:
        return self._call("missing", str, needs=list(needs)) or None

    def missing_for(self, setup: Setup) -> str | None:
        """Describe the software that the machine lacks for a setup (see ``loadtests.setups.missing``)."""
        return self._call("missing_for", str, setup=setup.group) or None

    def prepare_sample(self) -> None:
        """Prepare the sample project on the machine.

        Raises:
            UserError: If the preparation fails.
        """
        self._call("prepare_sample", NOTHING, PREPARED_WITHIN_S)

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
        return self._call("usage_of", dict[int, Usage], parts=list(parts), folder=str(folder))

    def cpu_s(self, pids: Iterable[int]) -> None:
        return None  # each call would use the network that carries the load

    def moment(self, cores: Sequence[int]) -> Moment:
        return self._call("moment", Moment, cores=list(cores))

    def top_processes(self) -> Takers:
        return self._call("top_processes", Takers)

    def calibrate(self, core: int) -> float:
        return self._call("calibrate", float, core=core)

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
        return self._call("machine", dict[str, Any])

    def free_memory_mb(self) -> int:
        return self._call("free_memory_mb", int)

    def versions(self) -> dict[str, Any]:
        return self._call("versions", dict[str, Any])

    def findings(self) -> list[tuple[Level, str, str]]:
        """Return the level, text and remedy of ``doctor``'s findings on the machine, except findings about engines."""
        return self._call("doctor", list[tuple[Level, str, str]])

    def other_host(self) -> OtherHost | None:
        return OtherHost(
            address=self.name,
            listens_on=self.bind(),
            same_machine=self.same_machine,
            git=Git(self.facts.revision, self.facts.dirty),
            round_trip_ms=self.network.round_trip_ms if self.network else None,
            megabits_per_s=self.network.megabits_per_s if self.network else None,
            remarks=self.remarks(),
            generator=machine.describe(),
        )

    def remarks(self) -> tuple[str, ...]:
        """Return the remarks that users should read before load is sent to the machine."""
        remarks = []
        if self.same_machine:
            remarks.append(f"{self.name} is this machine, so the load generator and the servers share it")
        address = ipaddress.ip_address(self.bind())
        if not (address.is_private or address.is_loopback or address.is_link_local):
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


class RemoteSupervisor:
    """A context manager for a supervisord on another machine. See ``loadtests.hosts.base.Supervised``."""

    def __init__(self, link: Link, env: Mapping[str, str]) -> None:
        self._link = link
        self._env = dict(env)
        self._number = 0
        self.folder = Path()

    def __enter__(self) -> RemoteSupervisor:
        self._number, folder = self._link.call("begin_supervisor", tuple[int, str], env=self._env)
        self.folder = Path(folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._link.alive:  # if the connection is closed or lost, the agent itself stops supervisord
            self._call("end_supervisor", NOTHING)

    def start(self, group: str) -> None:
        self._call("start", NOTHING, group=group)

    def stop(self, group: str) -> None:
        self._call("stop", NOTHING, group=group)

    def programs(self, group: str) -> list[Program]:
        return self._call("programs", list[Program], group=group)

    def signal(self, pid: int, name: str) -> None:
        self._call("signal", NOTHING, pid=pid, name=name)

    def has(self, file: str) -> bool:
        return self._call("has", bool, file=file)

    def read(self, file: str) -> str:
        return self._call("read", str, file=file)

    def logs(self) -> str:
        return self._call("logs", str)

    def _call(self, method: str, kind: type[T], **arguments: Any) -> T:
        return self._link.call(method, kind, number=self._number, **arguments)
