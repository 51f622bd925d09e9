"""Generate a load in several parts, on this machine and on others, with Locust's master and workers.

The master and the workers forward the messages between the harness and the load programs (the package
``loadtests.cluster``). The master is a child process of the harness, and listens on the loopback interface. Workers on
this machine are child processes too. A worker on another machine runs in an SSH connection that forwards a port of that
machine to the master (``ssh -R``).

All messages are encrypted with keys from a token. Each cluster has a new token, and each process gets it over standard
input. ``expected.py`` has the workers that users start.
"""

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

from loadtests.engines import load_token
from loadtests.engines.base import EngineError, Others
from loadtests.engines.generator_process import Event, GeneratorProcess, start, wait_for
from loadtests.errors import UserError, shown, shown_end
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.link import CONNECT_S, SSH_FAILED, Address, failure, in_tree
from loadtests.hosts.network import REACHED_WITHIN_S, Network
from loadtests.observe.machine import Description, boot

MASTER, WORKER = "loadtests.cluster.master", "loadtests.cluster.worker"
LISTENS_WITHIN_S = 30.0
HERE_WITHIN_S = CONNECT_S + 60.0  # an earlier worker on that machine may still end its processes
ANSWERED_WITHIN_S = 10 * REACHED_WITHIN_S
LOOKS = 8
FORWARDED = range(20_000, 32_000)  # ports of the other machine, below the kernel's ephemeral ports (ip(7))

T = TypeVar("T")


class Here(msgspec.Struct, frozen=True):
    """The first event of a worker on another machine: the SHA-256 of its files by path, and the machine."""

    files: dict[str, str]
    boot: str
    machine: Description
    host: str = ""


class Cluster(GeneratorProcess):
    """Locust's master and its workers."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        super().__init__(popen, errors)
        self.token = load_token.drawn()
        self.workers: list[Worker] = []

    def pass_on(self, number: int, message: Event) -> None:
        """Send a message to a worker."""
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
        """Return an event of the master."""
        yield self, json.loads(line)


class Worker(GeneratorProcess):
    """A worker of a cluster. It generates a part of a load.

    Its own pipes are only for its first message and its end. ``where`` is its address, or empty on this machine.
    ``within_ms`` is the accuracy of its clock, half the shortest round trip.
    """

    start_in_s = 0.5  # a message may cross a network
    came = False

    about: Here  # only for a worker on another machine

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
        """Send the worker its first message. ``port`` is the master's."""
        token = {"token": load_token.of_workers(self._cluster.token), "number": self._number}
        first = {**token, "program": program, "core": core, "port": port, "apart": self.address is not None}
        self.write_line(json.dumps(first))

    def write(self, message: Event) -> None:
        self._cluster.pass_on(self._number, message)

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        self.lines()  # empty until the worker ends
        return ()

    def event(self, text: bytes) -> Event:
        """Parse an event of the worker.

        Raises:
            EngineError: If the worker is lost, or the event isn't valid.
        """
        try:
            event = wire.typed(wire.parsed(text), Event)
        except wire.NotAMessage as error:
            raise self._nonsense(error) from None
        if event.setdefault("event", "") == "lost":
            raise EngineError(f"lost the connection to {self._called}")
        if event["event"] == "nonsense":
            raise self._nonsense(shown(str(event.get("value"))))
        event["helpers"] = []  # the worker has lowered the priority of these threads itself
        if not self.machine:  # the other load on this machine is mostly the harness and the servers
            event.pop("conditions", None)
        return event

    def ended(self) -> UserError:
        """Return the error that explains why the worker ended.

        The end of a worker invalidates a load. If its machine can't be reached, no other load is possible either.
        """
        if self.address is None:
            return super().ended()
        status = self.popen.wait()
        found = failure(self.address, status, self.errors.text())
        return found if status == SSH_FAILED and not self.came else EngineError(str(found))

    def spin(self) -> float | None:
        return self._answer({"spin": True}, float) if self.machine else None

    def recognize(self) -> None:
        """Check the files of a worker on another machine.

        Raises:
            UserError: If they differ from the files on this machine.
        """
        self.came = True
        if self.address is None:
            return
        self.about = self._value(Here)
        deploy.require_same(self.address, self.about.files)
        if self.about.boot != boot():  # otherwise, the address is one of this machine
            self.machine = self.where

    def synchronize(self) -> None:
        """Use the shortest of several round trips. The error is half of it."""
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
        """Measure the network from the worker to the servers (see ``loadtests.hosts.network.look``).

        Raises:
            UserError: If the servers can't be reached.
        """
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
        return EngineError(f"{self._called} sent an invalid answer: {why}")


@contextlib.contextmanager
def understood(processes: Sequence[GeneratorProcess]) -> Iterator[None]:
    """Convert errors in the measurements of other machines.

    Raises:
        EngineError: If they can't be combined to a result.
    """
    others = [process.where for process in processes if isinstance(process, Worker) and process.where]
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not others:
            raise
        why = shown(f"{type(error).__name__}: {error}")
        raise EngineError(f"{' or '.join(others)} sent an invalid answer: {why}") from None


@contextlib.contextmanager
def workers(program: str, near: int, core: int | None, others: Others) -> Iterator[list[Worker]]:
    """Run workers with a ``program`` until the context ends.

    Args:
        program: The name of the program.
        near: The number of workers on this machine.
        core: Their core.
        others: The other machines, with a worker on each, or workers that users start.

    Raises:
        EngineError: If a worker fails.
        UserError: If a machine isn't prepared.
    """
    if not isinstance(others, tuple):
        with others.working(program, core) as found:
            yield found
        return
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(start(Cluster, [sys.executable, "-m", MASTER], ROOT))
        kind = functools.partial(Worker, cluster=cluster)
        command = [sys.executable, "-m", WORKER]
        for _ in range(near):  # start them at the same time as the master
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
