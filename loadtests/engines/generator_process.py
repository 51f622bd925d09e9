"""A process that makes load: lines of JSON go in and come out, and none is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from loadtests.engines.base import EngineError, ShouldStop
from loadtests.engines.timeline import Event
from loadtests.errors import UserError
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.wire import Lines
from loadtests.observe.cores import pinned

POLL_S = 0.1
START_IN_S = 0.05  # after the last of several is ready they start together: time for the message to reach them all


class GeneratorProcess:
    """A process and the lines it writes."""

    machine = ""
    """The address of its machine; empty for this one."""
    ahead_ms = 0.0
    """Its clock minus this process's."""
    start_in_s = START_IN_S
    """How long beforehand it must know its start."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        self.popen = popen
        self.errors = errors
        self.last: Event = {}
        self._partial = Lines()

    @property
    def sources(self) -> tuple[GeneratorProcess, ...]:
        """The processes that write its events."""
        return (self,)

    def synchronize(self) -> None:
        """Sets ``ahead_ms``."""

    def spin(self) -> float | None:
        """The calibration of its core (``loadtests.observe.calibration``), in seconds; None on this machine, which
        others calibrate."""
        return None

    def write(self, message: Event) -> None:
        """Sends a message."""
        self.write_line(json.dumps(message))

    def write_line(self, line: str) -> None:
        """Writes to its standard input."""
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: the reading side will find out why
            self.popen.stdin.write(line.encode() + b"\n")
            self.popen.stdin.flush()

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        """The events that it has written, and whose they are. Raises EngineError where it has ended without a
        result."""
        return [(self, json.loads(line)) for line in self.lines()]

    def lines(self) -> list[bytes]:
        """The lines that have come. Raises EngineError where it has ended, and wire.NotAMessage."""
        assert self.popen.stdout is not None
        data = os.read(self.popen.stdout.fileno(), 1 << 20)
        if not data:
            raise self.ended()
        return self._partial.add(data)

    def ended(self) -> UserError:
        """The error for its end, with the reason."""
        status = self.popen.wait()
        lines = self.errors.text().strip().splitlines()
        # Node prints the source line, the message, the stack and its version: the message is what helps. Python's is at
        # the end of its traceback.
        message = next((line for line in lines if re.match(r"\s*(\w*Error|FATAL ERROR)\b", line)), None)
        ending = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        reason = f"{(message or lines[-1]).strip()} ({ending})" if lines else ending
        return EngineError(f"the load generator broke off: {reason}")


P = TypeVar("P", bound=GeneratorProcess)


@contextlib.contextmanager
def start(
    kind: Callable[[subprocess.Popen[bytes], ErrorTail], P], command: Sequence[str], cwd: Path, core: int | None = None
) -> Iterator[P]:
    """Runs a command on a core, until the context ends, as a kind of GeneratorProcess."""
    errors = ErrorTail()
    with contextlib.closing(errors), pinned(core):
        popen = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors.descriptor,
            start_new_session=True,  # Ctrl-C is for this process, which then ends its own
        )
    try:
        yield kind(popen, errors)
    finally:
        popen.kill()
        popen.wait()
        for pipe in (popen.stdin, popen.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def common_start(processes: Sequence[GeneratorProcess]) -> float:
    """The moment in which all can begin, in seconds of this process's clock; theirs are synchronized. Raises
    EngineError."""
    for process in processes:
        process.synchronize()
    return time.monotonic() + max(process.start_in_s for process in processes)


def results(processes: Sequence[GeneratorProcess]) -> list[Event]:
    """The last event of each, and its machine."""
    return [{**process.last, "machine": process.machine} for process in processes]


def events(
    processes: Sequence[GeneratorProcess], until: str, limit_s: float, should_stop: ShouldStop | None = None
) -> Iterator[Event]:
    """The events of all, until each has sent the event ``until``, which is its ``last``. Raises EngineError where one
    ends before, or that takes over ``limit_s`` seconds."""
    deadline = time.monotonic() + limit_s
    stopping = False
    waiting = set(processes)
    with selectors.DefaultSelector() as selector:
        for source in {source for process in processes for source in process.sources}:
            assert source.popen.stdout is not None
            selector.register(source.popen.stdout, selectors.EVENT_READ, source)
        while waiting:
            for key, _ in selector.select(POLL_S):
                for process, event in key.data.incoming():
                    if event["event"] == until:
                        process.last = event
                        waiting.discard(process)
                    else:
                        yield event
            if time.monotonic() > deadline:
                raise EngineError(f"the load generator hangs: no {until} after {limit_s:.0f} s")
            if not stopping and should_stop is not None and should_stop():
                stopping = True
                for process in processes:
                    process.write({"stop": True})


def wait_for(processes: Sequence[GeneratorProcess], event: str, limit_s: float) -> None:
    """Waits until each has sent an event, and ignores all others. Raises EngineError."""
    for _ in events(processes, event, limit_s):
        pass
