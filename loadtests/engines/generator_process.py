"""Run a load process that exchanges lines of JSON with the harness, and ends when the harness ends."""

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
from typing import Any, TypeVar

from loadtests.engines.base import UNWATCHED, EngineError, ShouldStop
from loadtests.errors import UserError
from loadtests.hosts.error_tail import ErrorTail
from loadtests.hosts.wire import Lines
from loadtests.observe.cores import pinned

Event = dict[str, Any]

POLL_S = 0.1
# The time between the start message and the common start. All processes must receive the message in this time.
START_IN_S = 0.05


class GeneratorProcess:
    """A load process that sends events to the harness."""

    machine = ""
    """The address of the process's machine, or empty for this machine."""
    ahead_ms = 0.0
    """The time on the process's clock minus the time on the harness's clock, in milliseconds."""
    start_in_s = START_IN_S
    """The minimum time between the start message and the start of the load, in seconds."""

    def __init__(self, popen: subprocess.Popen[bytes], errors: ErrorTail) -> None:
        self.popen = popen
        self.errors = errors
        self.last: Event = {}
        self._partial = Lines()

    @property
    def sources(self) -> tuple[GeneratorProcess, ...]:
        """The processes whose output must be read to receive the events of this process."""
        return (self,)

    def synchronize(self) -> None:
        """Measure the offset of the process's clock (``ahead_ms``)."""

    def spin(self) -> float | None:
        """Run the calibration (``loadtests.observe.calibration``) on the process's core.

        Returns:
            The duration in seconds, or None on this machine, where the harness runs the calibration.
        """
        return None

    def write(self, message: Event) -> None:
        """Send a message to the process."""
        self.write_line(json.dumps(message))

    def write_line(self, line: str) -> None:
        """Write a line to the process's standard input."""
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended; the reader of its output reports why
            self.popen.stdin.write(line.encode() + b"\n")
            self.popen.stdin.flush()

    def incoming(self) -> Iterable[tuple[GeneratorProcess, Event]]:
        """Return the new events, each with the process that sent it.

        Raises:
            EngineError: If the process has ended.
        """
        return [(self, json.loads(line)) for line in self.lines()]

    def lines(self) -> list[bytes]:
        """Return the new lines of the process's output.

        Raises:
            EngineError: If the process has ended.
            wire.NotAMessage: If a line is too long.
        """
        assert self.popen.stdout is not None
        data = os.read(self.popen.stdout.fileno(), 1 << 20)
        if not data:
            raise self.ended()
        return self._partial.add(data)

    def ended(self) -> UserError:
        """Return the error that explains why the process ended."""
        status = self.popen.wait()
        lines = self.errors.text().strip().splitlines()
        # Node prints the source line, the message, the stack and its version, but only the message helps users. Python
        # prints the message at the end of a traceback.
        message = next((line for line in lines if re.match(r"\s*(\w*Error|FATAL ERROR)\b", line)), None)
        ending = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        reason = f"{(message or lines[-1]).strip()} ({ending})" if lines else ending
        return EngineError(f"the load generator stopped: {reason}")


P = TypeVar("P", bound=GeneratorProcess)


@contextlib.contextmanager
def start(
    kind: Callable[[subprocess.Popen[bytes], ErrorTail], P], command: Sequence[str], cwd: Path, core: int | None = None
) -> Iterator[P]:
    """Run a command on a core until the context ends.

    The function ``kind`` creates the GeneratorProcess from the process and its standard error.
    """
    errors = ErrorTail()
    with contextlib.closing(errors), pinned(core):
        popen = subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors.descriptor,
            start_new_session=True,  # a Ctrl-C must reach only the harness, which then ends its children
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
    """Synchronize the processes' clocks, and return the time at which all processes can start.

    The time is in seconds of this process's ``time.monotonic``.

    Raises:
        EngineError: If a process fails.
    """
    for process in processes:
        process.synchronize()
    return time.monotonic() + max(process.start_in_s for process in processes)


def results(processes: Sequence[GeneratorProcess]) -> list[Event]:
    """Return the last event of each process, with the address of the process's machine."""
    return [{**process.last, "machine": process.machine} for process in processes]


def events(
    processes: Sequence[GeneratorProcess], until: str, limit_s: float, should_stop: ShouldStop = UNWATCHED.should_stop
) -> Iterator[Event]:
    """Yield the events of all processes until each process has sent the event ``until``.

    The event ``until`` isn't yielded, but stored in ``GeneratorProcess.last``.

    Raises:
        EngineError: If a process ends too early, or ``limit_s`` seconds have passed.
    """
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
                raise EngineError(f"the load generator hangs: it didn't send {until} within {limit_s:.0f} s")
            if not stopping and should_stop():
                stopping = True
                for process in processes:
                    process.write({"stop": True})


def wait_for(processes: Sequence[GeneratorProcess], event: str, limit_s: float) -> None:
    """Wait until each process has sent this event, and ignore all other events.

    Raises:
        EngineError: If a process ends, or ``limit_s`` seconds have passed.
    """
    for _ in events(processes, event, limit_s):
        pass
