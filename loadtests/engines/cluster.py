"""Distribute a load over Locust workers on other machines.

A Locust master and its workers (the package ``loadtests.cluster``) forward messages between the harness and the load
programs. The master is a child process of the harness. The harness starts workers on other machines over SSH, in
connections that forward a port of that machine to the master (``ssh -R``). Users start the workers of ``expected.py``.

All messages are encrypted with keys that are derived from a token. Each cluster has a new token. The harness sends the
processes that it starts their tokens over standard input.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import math
import secrets
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from loadtests.engines import load_token
from loadtests.engines.base import EngineError, Others
from loadtests.engines.generator_process import Event, GeneratorProcess, start, wait_for
from loadtests.errors import UserError, called, shown, shown_end
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.link import CONNECT_S, SSH_FAILED, Address, failure, in_tree
from loadtests.hosts.network import REACHED_WITHIN_S, Network
from loadtests.observe.machine import boot

MASTER, WORKER = "loadtests.cluster.master", "loadtests.cluster.worker"
LOOPBACK = "127.0.0.1"
LISTENS_WITHIN_S = 30.0
HERE_WITHIN_S = CONNECT_S + 60.0  # an earlier worker on that machine may still be stopping its processes
CARRIES_WITHIN_S = 30.0
ANSWERED_WITHIN_S = 10 * REACHED_WITHIN_S
LOOKS = 8
FORWARDED = range(20_000, 32_000)  # ports on the other machine, below the kernel's ephemeral ports (ip(7))

T = TypeVar("T")


class Here(msgspec.Struct, frozen=True):
    """The first event from a worker: its name, the SHA-256 of each of its files by path, and its machine."""

    name: str
    files: dict[str, str]
    boot: str
    machine: dict[str, Any]


class Cluster(GeneratorProcess):
    """A Locust master and its workers. Only events from the workers in ``at_work`` are reported.

    The attribute ``connections`` contains the SSH connections to the workers, by the workers' names.
    """

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        super().__init__(popen, errors)
        self.workers: list[Worker] = []
        self.at_work: list[Worker] = []
        self.connections: dict[str, Connection] = {}

    @property
    def here(self) -> list[Worker]:
        """The connected workers that have the same files as this machine and aren't lost."""
        return [worker for worker in self.workers if worker.there]

    def open(self, token: str, host: str = LOOPBACK, port: int = 0) -> int:
        """Let the master listen on an address, and return its port."""
        self.write({"token": token, "host": host, "port": port})
        wait_for([self], "listening", LISTENS_WITHIN_S)
        found: int = self.last["port"]
        return found

    def listen(self, enough: Callable[[], bool], within_s: float) -> None:
        """Process incoming events until ``enough`` returns true, or ``within_s`` seconds have passed.

        Raises:
            EngineError: If the master or a connection ends.
        """
        until = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            for source in (self, *self.connections.values()):
                assert source.popen.stdout is not None
                selector.register(source.popen.stdout, selectors.EVENT_READ, source)
            while found := selector.select(0.0 if enough() else max(0.0, until - time.monotonic())):
                for key, _ in found:
                    collections.deque(key.data.incoming(), maxlen=0)

    @contextlib.contextmanager
    def working(self, workers: Sequence[Worker], program: str, core: int | None) -> Iterator[None]:
        """Run a load program on some workers until the context ends.

        Workers on this machine run on ``core``. Each worker on another machine uses a separate core of that machine.
        """
        nth: collections.Counter[str] = collections.Counter()
        self.at_work = list(workers)
        try:
            for worker in workers:
                machine = worker.about.boot
                nth[machine] += 1
                own = -nth[machine] if core is None or machine != boot() else core
                worker.write({"carry": program, "core": own})
            wait_for(workers, "carries", CARRIES_WITHIN_S)  # earlier events belong to an earlier load
            yield
        finally:
            self.at_work = []
            for worker in workers:
                worker.write({"carry": "", "core": -1})

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        for line in self.lines():
            if line[:1] == b"{":
                yield self, json.loads(line)
                continue
            number, _, text = line.partition(b" ")
            if int(number) == len(self.workers):
                self.workers.append(Worker(self))
            worker = self.workers[int(number)]
            event = worker.event(text)
            if worker in self.at_work:
                yield worker, event


class Connection(GeneratorProcess):
    """An SSH connection that runs a worker. Its pipes are used only for the first message, and to notice its end."""

    came = False
    """Whether the worker has reported itself."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail, address: Address) -> None:
        super().__init__(popen, errors)
        self.address = address

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        self.lines()  # empty until the connection ends
        return ()

    def ended(self) -> UserError:
        """Return the error that explains why the connection ended.

        If a worker ends, only the current load is invalid (EngineError). If SSH can't reach the worker's machine, all
        other loads would fail, too (UserError).
        """
        status = self.popen.wait()
        found = failure(self.address, status, self.errors.text())
        return found if status == SSH_FAILED and not self.came else EngineError(str(found))


class Worker(GeneratorProcess):
    """A worker in a cluster, which generates a part of a load.

    Attributes:
        where: The worker's address, or its number and the name of its machine.
        within_ms: The uncertainty of the worker's clock, which is half of the shortest round trip.
        there: Whether the worker has the same files as this machine and isn't lost.
        refused: The reason why the worker can't take part.
        about: The worker's first event.
    """

    start_in_s = 0.5  # long enough for the start message to cross a network
    about: Here

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.popen, cluster.errors)
        self._cluster = cluster
        self._number = len(cluster.workers)
        self.where = f"worker {self._number + 1}"
        self.within_ms = 0.0
        self.there = False
        self.refused = ""

    @property
    def sources(self) -> tuple[GeneratorProcess, ...]:
        return (self._cluster, *self._cluster.connections.values())

    def write(self, message: Event) -> None:
        self._cluster.write_line(f"{self._number} {json.dumps(message)}")

    def event(self, text: bytes) -> Event:
        """Parse an event of the worker.

        Raises:
            EngineError: If the worker is at work, and is lost or has sent an invalid event.
        """
        try:
            event = wire.typed(wire.parsed(text), Event)
            if event.setdefault("event", "") == "lost":
                raise EngineError(f"lost the connection to {self.where}")
            if event["event"] == "nonsense":
                raise wire.NotAMessage(event["value"])
            if event["event"] == "here":
                self._register(wire.typed(event.get("value"), Here))
        except (EngineError, wire.NotAMessage) as error:
            self.there = False
            if self in self._cluster.at_work:
                raise error if isinstance(error, EngineError) else self._nonsense(error) from None
            return {"event": "lost"}
        if not self.machine:  # On this machine, most of the other load is the harness and the servers.
            event.pop("conditions", None)
        return event

    def _register(self, about: Here) -> None:
        """Store the worker's first event, and refuse the worker if its files differ."""
        self.about = about
        remedy = "Check out the same revision."
        if (connection := self._cluster.connections.get(about.name)) is not None:
            connection.came, self.where = True, about.name
            remedy = f"Copy them: {called()} hosts prepare {about.name}"
        else:
            self.where = f"{self.where} ({shown(about.name)})"
        if (names := deploy.differing(deploy.digests(ROOT, deploy.of_load()), about.files)) is not None:
            why = f"files differ from this machine's: {names}. {remedy}"
            self.refused = f"{self.where}: {why}"
            self.write({"end": why})
            return
        self.there = True
        if about.boot != boot():  # an equal boot id means that the address leads back to this machine
            self.machine = self.where

    def spin(self) -> float | None:
        return self._answer({"spin": True}, float) if self.machine else None

    def synchronize(self) -> None:
        """Measure the offset of the worker's clock with the shortest of several round trips."""
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
        try:
            return wire.typed(self.last.get("value"), kind)
        except wire.NotAMessage as error:
            raise self._nonsense(error) from None

    def _nonsense(self, why: object) -> EngineError:
        return EngineError(f"{self.where} sent an invalid answer: {why}")


@contextlib.contextmanager
def running(
    program: str, command: Sequence[str], cwd: Path, processes: int, core: int | None, others: Others
) -> Iterator[list[GeneratorProcess]]:
    """Run the processes of a load until the context ends.

    The processes with the highest indexes run on ``others``, one process on each machine or worker.

    Args:
        program: The name of the load program in messages to workers.
        command: The command that starts the program on this machine.
        cwd: The program's working directory on this machine.
        processes: The number of processes, including the processes on ``others``.
        core: The core for the processes on this machine.
        others: The addresses of other machines, or workers that the user starts.

    Raises:
        EngineError: If a process fails.
        UserError: If another machine isn't prepared, or workers are missing.
    """
    with contextlib.ExitStack() as stack:
        found: list[GeneratorProcess] = [
            stack.enter_context(start(GeneratorProcess, command, cwd, core)) for _ in range(processes - len(others))
        ]
        if others:
            found += stack.enter_context(workers(program, core, others))
        yield found


@contextlib.contextmanager
def workers(program: str, core: int | None, others: Others) -> Iterator[list[Worker]]:
    """Run a load program on workers until the context ends. See ``running``."""
    if not isinstance(others, tuple):
        with others.working(program, core) as found:
            yield found
        return
    token = load_token.drawn()
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(start(Cluster, [sys.executable, "-m", MASTER], ROOT))
        port = cluster.open(token)
        for address in others:
            there = secrets.choice(FORWARDED)
            command = address.command(in_tree(f".venv/bin/python -m {WORKER} {there}"), (there, port))
            connection = stack.enter_context(start(functools.partial(Connection, address=address), command, ROOT))
            connection.write({"token": load_token.of_workers(token), "name": str(address)})
            cluster.connections[str(address)] = connection
        cluster.listen(lambda: len(cluster.workers) == len(others), HERE_WITHIN_S)
        if refused := [worker.refused for worker in cluster.workers if worker.refused]:
            raise UserError(refused[0])
        came = {worker.where: worker for worker in cluster.here}
        if missing := [str(address) for address in others if str(address) not in came]:
            why = "Check that sshd on that machine allows port forwarding (AllowTcpForwarding)"
            raise UserError(f"{missing[0]}: the worker did not connect within {HERE_WITHIN_S:g} s. {why}")
        found = [came[str(address)] for address in others]
        with cluster.working(found, program, core):
            yield found
