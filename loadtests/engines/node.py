"""Runs the generator's Node processes: a job in, seconds and a result out, none left behind."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import IO

from loadtests.engines.base import EngineError, OnSecond, ShouldStop
from loadtests.engines.job import job
from loadtests.engines.timeline import Event, Timeline
from loadtests.observe.cores import pinned
from loadtests.paths import ROOT
from loadtests.records import Second
from loadtests.workload.load import Load

GENERATOR = ROOT / "loadtests" / "generator"
OLDEST_NODE = (20, 18, 1)  # what undici 7 needs
# MB of short-lived objects that are let lie before the collector runs: fewer pauses in the middle of sending.
YOUNG_GENERATION = "--max-semi-space-size=32"

# Processes start together, this long after the last of them is ready: time for the word to reach them all.
START_IN_S = 0.05
PREPARATION_S = 30.0
OPENED_PER_S = 100.0  # connections that are to be held, at the least
OVERTIME_S = 30.0  # past the schedule and the grace period: it hangs
ASK_EVERY_S = 0.1


@functools.cache
def require() -> str:
    """The path of Node. Raises EngineError, with what to do, where Node or its packages are not as needed."""
    path = shutil.which("node")
    wanted = ".".join(map(str, OLDEST_NODE))
    if path is None:
        raise EngineError(f"there is no node on PATH; install Node.js {wanted} or newer (https://nodejs.org)")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if numbers < OLDEST_NODE:
        raise EngineError(f"{path} is Node {version or 'of unknown version'}; {wanted} or newer is needed")
    if not (ROOT / "node_modules" / "undici").is_dir():
        raise EngineError("the generator's packages are not installed; run `make setup`")
    return path


def protocols() -> list[str]:
    """What the generator can speak: the files of its folder ``protocols``, without their .js."""
    return sorted(file.stem for file in (GENERATOR / "protocols").glob("*.js"))


def dialects() -> list[str]:
    """How a WebSocket server can be spoken to: the files of its folder ``dialects``, without their .js."""
    return sorted(file.stem for file in (GENERATOR / "dialects").glob("*.js"))


@dataclasses.dataclass(frozen=True)
class SchedulePart:
    """So many seconds of a schedule: those after ``from_s`` of ``of_s``."""

    lasts_s: float
    from_s: float = 0.0
    of_s: float = 0.0


NONE = SchedulePart(0.0)


class Processes:
    """The generator's processes, which prepare loads and make them, one at a time."""

    def __init__(self, engine: str, processes: list[_Process]) -> None:
        self.engine = engine
        self._processes = processes
        self._prepared = itertools.count(1)

    def prepare(self, load: Load) -> NodeLoad:
        """Gets a load ready, of as many processes as there are. Raises EngineError."""
        name = f"{next(self._prepared)}"
        for index, process in enumerate(self._processes):
            process.write({"load": name, "job": job(self.engine, load, index)})
        for _ in _events(self._processes, "ready", _preparation_s(load), None):
            pass
        for process in self._processes:
            _demote(process.last["helpers"])
        return NodeLoad(name, load, self._processes)


class NodeLoad:
    """A load that can be made, in as many slices as one likes; its connections stay open in between."""

    def __init__(self, name: str, load: Load, processes: list[_Process]) -> None:
        self._name = name
        self._load = load
        self._processes = processes
        self._timeline = Timeline(len(processes))

    def slice(
        self,
        settling: SchedulePart,
        measured: SchedulePart,
        arrival_seed: int | None,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> None:
        """Makes the load for a while: what is sent while it is ``settling`` is not measured. It is over when what was
        sent has its end. Raises EngineError."""
        self._mend()
        message = {
            "load": self._name,
            "slice": {
                "start": (time.monotonic() + START_IN_S) * 1000,
                "settleMs": settling.lasts_s * 1000,
                "durationMs": measured.lasts_s * 1000,
                "arrivalSeed": arrival_seed,
                "settling": {"fromMs": settling.from_s * 1000, "ofMs": settling.of_s * 1000},
                "measured": {"fromMs": measured.from_s * 1000, "ofMs": measured.of_s * 1000},
            },
        }
        for process in self._processes:
            process.write(message)
        limit_s = START_IN_S + settling.lasts_s + measured.lasts_s + self._load.timeout_s + OVERTIME_S
        for event in _events(self._processes, "over", limit_s, should_stop):
            self._timeline.add(event, on_second)
        self._timeline.over(on_second)

    def _mend(self) -> None:
        """Has the connections that are to be held, and were lost, opened again."""
        if self._load.conversation is None:
            return
        for process in self._processes:
            process.write({"load": self._name, "mend": True})
        for _ in _events(self._processes, "mended", _preparation_s(self._load), None):
            pass

    def close(self) -> tuple[list[Event], tuple[Second, ...]]:
        """Closes its connections. Returns what each process measured in all slices (``Measured`` in generator/job.js)
        and the timeline (see Result). Raises EngineError."""
        for process in self._processes:
            process.write({"load": self._name, "close": True})
        for _ in _events(self._processes, "result", OVERTIME_S, None):
            pass
        return [process.last for process in self._processes], self._timeline.rows()


def _preparation_s(load: Load) -> float:
    """How long it may take at most until a load is ready."""
    talk = load.conversation
    held = 0 if talk is None else talk.receivers + talk.sends * load.connection_count * talk.rooms
    return PREPARATION_S + held / OPENED_PER_S


@contextlib.contextmanager
def running(engine: str, processes: int, core: int | None) -> Iterator[Processes]:
    """So many processes of the generator, on a core; none of them is left at the end. Raises EngineError."""
    with contextlib.ExitStack() as stack:
        yield Processes(engine, [stack.enter_context(_process(core)) for _ in range(processes)])


class _Process:
    """A Node process and the lines it writes."""

    def __init__(self, popen: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
        self.popen = popen
        self.stderr = stderr
        self.partial = b""
        self.last: Event = {}

    def write(self, message: Event) -> None:
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: the reading side will find out and say why
            self.popen.stdin.write(json.dumps(message).encode() + b"\n")
            self.popen.stdin.flush()

    def read(self) -> list[Event]:
        """The events that have come. Raises EngineError where it has ended without a result."""
        assert self.popen.stdout is not None
        data = os.read(self.popen.stdout.fileno(), 1 << 20)
        if not data:
            raise EngineError(f"the load generator broke off: {self.why()}")
        *lines, self.partial = (self.partial + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def why(self) -> str:
        status = self.popen.wait()
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        # Node prints the source line, the message, the stack and its version: the message is what helps.
        message = next((line for line in lines if re.match(r"\s*(\w*Error|FATAL ERROR)\b", line)), None)
        ending = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"{(message or lines[-1]).strip()} ({ending})" if lines else ending


def _demote(threads: list[int]) -> None:
    """Lets these threads run only when nothing else wants their core (SCHED_IDLE, sched(7)).

    They are V8's, which compile and collect garbage beside the thread that sends. On a core that they share with it, a
    time slice of theirs is a send that is late by some milliseconds.
    """
    if hasattr(os, "SCHED_IDLE"):
        for thread in threads:
            with contextlib.suppress(OSError):  # it is gone, or a sandbox forbids it
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


@contextlib.contextmanager
def _process(core: int | None) -> Iterator[_Process]:
    with tempfile.TemporaryFile() as stderr:
        with pinned(core):
            popen = subprocess.Popen(
                [require(), YOUNG_GENERATION, str(GENERATOR / "main.js")],
                cwd=GENERATOR,  # not the user's directory, where a .loadtestrc might lie
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C is for this process, which then ends its own
            )
        try:
            yield _Process(popen, stderr)
        finally:
            popen.kill()
            popen.wait()
            for pipe in (popen.stdin, popen.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _events(processes: list[_Process], until: str, limit_s: float, should_stop: ShouldStop | None) -> Iterator[Event]:
    """The events of all processes, until each has sent the event ``until``, which is kept as its last."""
    deadline = time.monotonic() + limit_s
    stopping = False
    with selectors.DefaultSelector() as selector:
        for process in processes:
            assert process.popen.stdout is not None
            selector.register(process.popen.stdout, selectors.EVENT_READ, process)
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
                for process in processes:
                    process.write({"stop": True})
