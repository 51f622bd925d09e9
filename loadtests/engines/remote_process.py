"""A process of the generator on another machine, over SSH (``loadtests.hosts.agent.generating`` is there)."""

from __future__ import annotations

import contextlib
import functools
import math
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from loadtests.engines.base import EngineError
from loadtests.engines.generator_process import GeneratorProcess, start_as, wait_for
from loadtests.engines.timeline import Event
from loadtests.errors import shown, shown_end
from loadtests.files import ROOT
from loadtests.hosts import deploy, wire
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.link import CONNECT_S, Address, failure, in_tree
from loadtests.hosts.network import REACHED_WITHIN_S, Network
from loadtests.observe.machine import Description, boot

FREE_WITHIN_S = 30  # while an earlier agent may be ending what it started
HERE_WITHIN_S = CONNECT_S + FREE_WITHIN_S + 30.0
ANSWERED_WITHIN_S = 10.0
LOOKS = 8

T = TypeVar("T")


class Here(msgspec.Struct, frozen=True):
    """What a process says first: the SHA-256 of its files by path, and its machine."""

    files: dict[str, str]
    boot: str
    machine: Description


class Looked(msgspec.Struct, frozen=True):
    """Its machine's monotonic clock."""

    ms: float


class Spun(msgspec.Struct, frozen=True):
    """How long the calibration took."""

    s: float


class RemoteProcess(GeneratorProcess):
    """Another machine's process. ``within_ms`` is how well its clock is known: half the quickest round trip."""

    start_in_s = 0.5  # a line may take a network's way

    about: Here

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail, address: Address) -> None:
        super().__init__(popen, errors)
        self.address = address
        self.within_ms = math.inf
        self._writing = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()

    def write(self, message: Event) -> None:
        with self._writing:
            super().write(message)

    def read(self) -> list[Event]:
        try:
            found = [wire.typed(wire.parsed(line), Event) for line in self.lines()]
        except wire.NotAMessage as error:
            raise self.nonsense(error) from None
        for event in found:
            if event.setdefault("event", "") == "refused":
                raise EngineError(f"{self.address}: {shown_end(str(event.get('why')))}")
            event["helpers"] = []  # threads of that machine, which has lowered them
            if not self.machine:  # the other load of this machine is mostly this process and the servers
                event.pop("conditions", None)
        return found

    def spin(self) -> float | None:
        if not self.machine:
            return None
        return self._answer({"spin": True}, "spun", Spun, ANSWERED_WITHIN_S).s

    def ended(self) -> EngineError:
        status = self.popen.wait()
        return EngineError(str(failure(self.address, status, self.errors.text())))

    def nonsense(self, why: object) -> EngineError:
        """The error for an answer that is none."""
        return EngineError(f"{self.address} answered nonsense: {why}")

    def begin(self) -> None:
        """Waits until it is there, with the same files as here. Raises EngineError and UserError."""
        self.about = self._answer(None, "here", Here, HERE_WITHIN_S)
        deploy.require_same(self.address, self.about.files)
        if self.about.boot != boot():  # else it is this machine, by another address
            self.machine = str(self.address)

    def synchronize(self) -> None:
        """The quickest of some round trips is used, as half of it is the error."""
        self.within_ms = math.inf
        for number in range(LOOKS):
            before = time.monotonic() * 1000
            there = self._answer({"look": number}, "looked", Looked, ANSWERED_WITHIN_S).ms
            half = (time.monotonic() * 1000 - before) / 2
            if half < self.within_ms:
                self.within_ms, self.ahead_ms = half, there - before - half

    def look(self, host: str, address: tuple[str, int], token: str, client: str) -> Network:
        """The way from there to the servers (see ``loadtests.hosts.network.look``). Raises EngineError."""
        message = {"prove": [host, list(address), token, client]}
        return self._answer(message, "proved", Network, 10 * REACHED_WITHIN_S)

    def close(self) -> None:
        """Stops the heartbeat."""
        self._over.set()

    def _answer(self, message: dict[str, Any] | None, answer: str, kind: type[T], within_s: float) -> T:
        if message is not None:
            self.write(message)
        wait_for([self], answer, within_s)
        try:
            return wire.typed(self.last, kind)
        except wire.NotAMessage as error:
            raise self.nonsense(error) from None

    def _beat(self) -> None:
        while not self._over.wait(wire.BEAT_S):
            with contextlib.suppress(OSError, ValueError):  # it has ended, or was closed
                self.write({"beat": True})


@contextlib.contextmanager
def understood(processes: Sequence[GeneratorProcess]) -> Iterator[None]:
    """Raises EngineError where what other machines measured makes no result."""
    others = [str(process.address) for process in processes if isinstance(process, RemoteProcess)]
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not others:
            raise
        why = shown(f"{type(error).__name__}: {error}")
        raise EngineError(f"{' or '.join(others)} answered nonsense: {why}") from None


@contextlib.contextmanager
def start_remote(address: Address, program: str) -> Iterator[RemoteProcess]:
    """A process at an address, of a ``program`` of ``loadtests.hosts.agent.generating``, until the context ends. Raises
    EngineError and UserError."""
    command = address.command(
        in_tree(f".venv/bin/python -m loadtests.hosts.agent.generating {program} {FREE_WITHIN_S}")
    )
    kind = functools.partial(RemoteProcess, address=address)
    with start_as(kind, command, ROOT, None) as process, contextlib.closing(process):
        process.begin()
        yield process
