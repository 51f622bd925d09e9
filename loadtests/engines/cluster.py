"""Distribute a load over Locust workers, on this machine and on other machines.

A Locust master and its workers (the package ``loadtests.cluster``) forward messages between the harness and the load
programs. The master is a child process of the harness, and listens on the loopback interface. Workers on this machine
are also child processes. A worker on another machine runs in an SSH connection that forwards a port of that machine to
the master (``ssh -R``).

All messages are encrypted with keys that are derived from a token. Each cluster has a new token. The harness sends the
processes their tokens over standard input. The module ``expected.py`` implements the workers that users start.
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
HERE_WITHIN_S = CONNECT_S + 60.0  # an earlier worker on that machine may still be stopping its processes
ANSWERED_WITHIN_S = 10 * REACHED_WITHIN_S
LOOKS = 8
FORWARDED = range(20_000, 32_000)  # ports on the other machine, below the kernel's ephemeral ports (ip(7))

T = TypeVar("T")


class Here(msgspec.Struct, frozen=True):
    """The first event from a worker on another machine, which describes the worker's files and the machine.

    The field ``files`` contains the SHA-256 of each file, by path.
    """

    files: dict[str, str]
    boot: str
    machine: Description
    host: str = ""


class Cluster(GeneratorProcess):
    """A Locust master and its workers."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        super().__init__(popen, errors)
        self.token = load_token.drawn()
        self.workers: list[Worker] = []

    def pass_on(self, number: int, message: Event) -> None:
        """Send a message to the worker with this number."""
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
        """Yield the event that the master sent in this line."""
        yield self, json.loads(line)


class Worker(GeneratorProcess):
    """A worker in a cluster, which generates a part of a load.

    The worker's own pipes are used only for the first message to the worker, and to notice when the worker ends. The
    attribute ``where`` is the worker's address, or empty if the worker runs on this machine. The attribute
    ``within_ms`` is the uncertainty of the worker's clock, which is half of the shortest round trip.
    """

    start_in_s = 0.5  # long enough for the start message to cross a network
    came = False

    about: Here  # set only for a worker on another machine

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
        """Send the worker its first message. The master listens on ``port``."""
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
        event["helpers"] = []  # The worker has already lowered the priority of these threads.
        if not self.machine:  # On this machine, most of the other load is the harness and the servers.
            event.pop("conditions", None)
        return event

    def ended(self) -> UserError:
        """Return the error that explains why the worker ended.

        If a worker ends, only the current load is invalid (EngineError). If SSH can't reach the worker's machine, all
        other loads would fail, too (UserError).
        """
        if self.address is None:
            return super().ended()
        status = self.popen.wait()
        found = failure(self.address, status, self.errors.text())
        return found if status == SSH_FAILED and not self.came else EngineError(str(found))

    def spin(self) -> float | None:
        return self._answer({"spin": True}, float) if self.machine else None

    def recognize(self) -> None:
        """Check that a worker on another machine has the same files as this machine.

        Raises:
            UserError: If files differ.
        """
        self.came = True
        if self.address is None:
            return
        self.about = self._value(Here)
        deploy.require_same(self.address, self.about.files)
        if self.about.boot != boot():  # an equal boot id means that the address leads back to this machine
            self.machine = self.where

    def synchronize(self) -> None:
        """Measure the offset of the worker's clock with the shortest of several round trips."""
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
    """Raise EngineError instead of the errors that invalid measurements from other machines cause.

    Raises:
        EngineError: If the measurements can't be combined into a result.
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
    """Run workers that execute a load program until the context ends.

    Args:
        program: The name of the load program.
        near: The number of workers on this machine.
        core: The core for the workers on this machine.
        others: The addresses of other machines that run one worker each, or workers that the user starts.

    Raises:
        EngineError: If a worker fails.
        UserError: If another machine isn't prepared, or workers are missing.
    """
    if not isinstance(others, tuple):
        with others.working(program, core) as found:
            yield found
        return
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(start(Cluster, [sys.executable, "-m", MASTER], ROOT))
        kind = functools.partial(Worker, cluster=cluster)
        command = [sys.executable, "-m", WORKER]
        for _ in range(near):  # to save time, the workers start at the same time as the master
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
