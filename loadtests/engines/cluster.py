"""A load of several parts, here and on other machines: Locust's master and workers, which pass on what the harness and
the processes of a load say to each other (``loadtests.cluster`` are the programs).

The master is a child of the harness and listens on loopback. Workers here are children too; on another machine one
runs for as long as an SSH connection, which forwards a port there to the master (``ssh -R``). What passes is encrypted
with keys of a token, which is drawn anew for each cluster, and which each gets over its standard input. Workers that
others start are in expected.py."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from loadtests.engines.base import EngineError, Others
from loadtests.engines.generator_process import GeneratorProcess, start, wait_for
from loadtests.engines.timeline import Event
from loadtests.errors import UserError, shown, shown_end
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.link import CONNECT_S, SSH_FAILED, Address, failure, in_tree
from loadtests.hosts.network import REACHED_WITHIN_S, Network
from loadtests.observe.machine import Description, boot

MASTER, WORKER = "loadtests.cluster.master", "loadtests.cluster.worker"
LISTENS_WITHIN_S = 30.0
HERE_WITHIN_S = CONNECT_S + 60.0  # an earlier worker there may be ending what it started
ANSWERED_WITHIN_S = 10 * REACHED_WITHIN_S
LOOKS = 8
FORWARDED = range(20_000, 32_000)  # ports there, below those that the kernel gives away (ip(7))

T = TypeVar("T")


class Here(msgspec.Struct, frozen=True):
    """What a worker on another machine says first: the SHA-256 of its files by path, and the machine."""

    files: dict[str, str]
    boot: str
    machine: Description
    host: str = ""


class Cluster(GeneratorProcess):
    """Locust's master and its workers."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        super().__init__(popen, errors)
        self.token = secrets.token_hex(16)
        self.workers: list[Worker] = []

    def pass_on(self, number: int, message: Event) -> None:
        """Sends a worker a message."""
        self.write_line(f"{number} {json.dumps(message)}")

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        for line in self.lines():
            number, _, text = line.partition(b" ")
            if not number.isdigit():
                yield from self.of_master(line)
            elif int(number) < len(self.workers):
                worker = self.workers[int(number)]
                yield worker, worker.event(text)

    def of_master(self, line: bytes) -> Iterable[tuple[GeneratorProcess, Event]]:
        """An event of its own."""
        yield self, json.loads(line)


class Worker(GeneratorProcess):
    """A worker of a cluster, which carries a part of a load. Its own pipes are for how it takes part, and for its end.
    ``where`` it is, empty for one here; ``within_ms`` is how well its clock is known: half the quickest round trip."""

    start_in_s = 0.5  # a message may take a network's way
    came = False

    about: Here  # of one on another machine

    def __init__(
        self, popen: subprocess.Popen[bytes], errors: ErrorTail, cluster: Cluster, address: Address | None
    ) -> None:
        super().__init__(popen, errors)
        self.address = address
        self.where = str(address or "")
        self.within_ms = 0.0
        self._cluster = cluster
        self._number = len(cluster.workers)
        cluster.workers.append(self)

    @property
    def sources(self) -> tuple[GeneratorProcess, ...]:
        return (self, self._cluster)

    def take_part(self, program: str, core: int | None, port: int) -> None:
        """Says how it takes part in the cluster, whose master has the ``port``."""
        token = {"token": self._cluster.token, "number": self._number}
        first = {**token, "program": program, "core": core, "port": port, "apart": self.address is not None}
        self.write_line(json.dumps(first))

    def write(self, message: Event) -> None:
        self._cluster.pass_on(self._number, message)

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        self.lines()  # of which there is none before its end
        return ()

    def event(self, text: bytes) -> Event:
        """An event of its own. Raises EngineError, also where it is lost."""
        try:
            event = wire.typed(wire.parsed(text), Event)
        except wire.NotAMessage as error:
            raise self._nonsense(error) from None
        if event.setdefault("event", "") == "lost":
            raise EngineError(f"{self._called} was not heard of any more")
        if event["event"] == "nonsense":
            raise self._nonsense(shown(str(event.get("value"))))
        event["helpers"] = []  # it has lowered these threads itself
        if not self.machine:  # the other load of this machine is mostly this process and the servers
            event.pop("conditions", None)
        return event

    def ended(self) -> UserError:
        """One that ends costs a load; where its machine cannot be reached, no other load can be made either."""
        if self.address is None:
            return super().ended()
        status = self.popen.wait()
        found = failure(self.address, status, self.errors.text())
        return found if status == SSH_FAILED and not self.came else EngineError(str(found))

    def spin(self) -> float | None:
        return self._answer({"spin": True}, float) if self.machine else None

    def recognize(self) -> None:
        """Once it has proved itself: raises UserError where another machine has other files than this one."""
        self.came = True
        if self.address is None:
            return
        self.about = self._value(Here)
        deploy.require_same(self.address, self.about.files)
        if self.about.boot != boot():  # else it is this machine, by another address
            self.machine = self.where

    def synchronize(self) -> None:
        """The quickest of some round trips is used, as half of it is the error."""
        if not self.where:
            return
        self.within_ms = math.inf
        for number in range(LOOKS):
            before = time.monotonic() * 1000
            there = self._answer({"look": number}, float)
            half = (time.monotonic() * 1000 - before) / 2
            if half < self.within_ms:
                self.within_ms, self.ahead_ms = half, there - before - half

    def look(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        """The way from there to the servers (see ``loadtests.hosts.network.look``). Raises UserError."""
        return self._answer({"prove": [host, list(address), token, client]}, Network)

    def _answer(self, message: Event, kind: type[T]) -> T:
        self.write(message)
        wait_for([self], "answer", ANSWERED_WITHIN_S)
        if why := self.last.get("why"):
            raise UserError(f"{self.where}: {shown_end(str(why))}")
        return self._value(kind)

    def _value(self, kind: type[T]) -> T:
        try:
            return wire.typed(self.last.get("value"), kind)
        except wire.NotAMessage as error:
            raise self._nonsense(error) from None

    @property
    def _called(self) -> str:
        return self.where or "a worker"

    def _nonsense(self, why: object) -> EngineError:
        return EngineError(f"{self._called} answered nonsense: {why}")


@contextlib.contextmanager
def understood(processes: Sequence[GeneratorProcess]) -> Iterator[None]:
    """Raises EngineError where what other machines measured makes no result."""
    others = [process.where for process in processes if isinstance(process, Worker) and process.where]
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not others:
            raise
        why = shown(f"{type(error).__name__}: {error}")
        raise EngineError(f"{' or '.join(others)} answered nonsense: {why}") from None


@contextlib.contextmanager
def workers(program: str, near: int, core: int | None, others: Others) -> Iterator[list[Worker]]:
    """Workers that carry a ``program``, some of them here, on a core, and one on each of the other machines, until the
    context ends; or those that others start. Raises EngineError and UserError."""
    if not isinstance(others, tuple):
        with others.working(program, core) as found:
            yield found
        return
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(start(Cluster, [sys.executable, "-m", MASTER], ROOT))
        kind = functools.partial(Worker, cluster=cluster)
        command = [sys.executable, "-m", WORKER]
        for _ in range(near):  # they start while the master does
            stack.enter_context(start(functools.partial(kind, address=None), command, ROOT))
        cluster.write({"token": cluster.token})
        wait_for([cluster], "listening", LISTENS_WITHIN_S)
        port = cluster.last["port"]
        for address in others:
            there = secrets.choice(FORWARDED)
            command = address.command(in_tree(f".venv/bin/python -m {WORKER} {there}"), (there, port))
            stack.enter_context(start(functools.partial(kind, address=address), command, ROOT))
        for worker in cluster.workers:
            worker.take_part(program, core, port)
        wait_for(cluster.workers, "here", HERE_WITHIN_S)
        for worker in cluster.workers:
            worker.recognize()
        yield cluster.workers
