"""Processes that make load: what they are told and what they tell are lines of JSON, and none of them is left
behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TypeVar

from loadtests.engines.base import EngineError, ShouldStop
from loadtests.engines.timeline import Event
from loadtests.observe.cores import pinned

ASK_EVERY_S = 0.1
START_IN_S = 0.05  # after the last of several is ready they start together: time for the word to reach them all


class Child:
    """A process and the lines it writes. ``machine`` is the address of the one it is on, empty where that is this one.
    Its clock is ``ahead_ms`` of this process's, and ``start_in_s`` is how long beforehand it wants to know when it is
    to start."""

    machine = ""
    ahead_ms = 0.0
    start_in_s = START_IN_S

    def synchronize(self) -> None:
        """Sees how its clock goes: it is this machine's."""

    def __init__(self, popen: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
        self.popen = popen
        self.stderr = stderr
        self.partial = b""
        self.last: Event = {}

    def spin(self) -> float | None:
        """How many seconds a fixed piece of work takes where it is, on its core
        (``loadtests.observe.calibration``); None of this machine's, whose speed others look at."""
        return None

    def write(self, message: Event) -> None:
        """Tells it something."""
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: the reading side will find out and say why
            self.popen.stdin.write(json.dumps(message).encode() + b"\n")
            self.popen.stdin.flush()

    def read(self) -> list[Event]:
        """The events that have come. Raises EngineError where it has ended without a result."""
        assert self.popen.stdout is not None
        data = os.read(self.popen.stdout.fileno(), 1 << 20)
        if not data:
            raise self.ended()
        *lines, self.partial = (self.partial + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def ended(self) -> EngineError:
        """The error that says that it has ended, and why."""
        return EngineError(f"the load generator broke off: {self._why()}")

    def _why(self) -> str:
        status = self.popen.wait()
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        # Node prints the source line, the message, the stack and its version: the message is what helps. Python's is at
        # the end of its traceback.
        message = next((line for line in lines if re.match(r"\s*(\w*Error|FATAL ERROR)\b", line)), None)
        ending = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"{(message or lines[-1]).strip()} ({ending})" if lines else ending


C = TypeVar("C", bound=Child)


def child(command: Sequence[str], cwd: Path, core: int | None) -> AbstractContextManager[Child]:
    """Runs a command on a core, until the context ends."""
    return child_as(Child, command, cwd, core)


@contextlib.contextmanager
def child_as(
    made: Callable[[subprocess.Popen[bytes], IO[bytes]], C], command: Sequence[str], cwd: Path, core: int | None
) -> Iterator[C]:
    """The same; ``made`` makes of the process and of what it says of errors what is given."""
    with tempfile.TemporaryFile() as stderr:
        with pinned(core):
            popen = subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C is for this process, which then ends its own
            )
        try:
            yield made(popen, stderr)
        finally:
            popen.kill()
            popen.wait()
            for pipe in (popen.stdin, popen.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def begin_together(children: Sequence[Child]) -> float:
    """The moment in which all of them can begin, in seconds of this process's clock. Each then knows how its own goes.
    Raises EngineError."""
    for one in children:
        one.synchronize()
    return time.monotonic() + max(one.start_in_s for one in children)


def measured(children: Sequence[Child]) -> list[Event]:
    """What each of them measured, which was its last event, and on which machine."""
    return [{**one.last, "machine": one.machine} for one in children]


def events(children: Sequence[Child], until: str, limit_s: float, should_stop: ShouldStop | None) -> Iterator[Event]:
    """The events of all of them, until each has sent the event ``until``, which is kept as its last. Raises
    EngineError where one ends before, or that takes over ``limit_s`` seconds."""
    deadline = time.monotonic() + limit_s
    stopping = False
    with selectors.DefaultSelector() as selector:
        for one in children:
            assert one.popen.stdout is not None
            selector.register(one.popen.stdout, selectors.EVENT_READ, one)
        while selector.get_map():
            for key, _ in selector.select(ASK_EVERY_S):
                for event in key.data.read():
                    if event["event"] == until:
                        key.data.last = event
                        selector.unregister(key.fileobj)
                    else:
                        yield event
            if time.monotonic() > deadline:
                raise EngineError(f"the load generator hangs: no {until} after {limit_s:.0f} s")
            if not stopping and should_stop is not None and should_stop():
                stopping = True
                for one in children:
                    one.write({"stop": True})
