"""Runs the generator's Node processes: a job in, seconds and a result out, none left behind."""

from __future__ import annotations

import array
import base64
import contextlib
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
from collections import defaultdict
from collections.abc import Iterator
from typing import IO, Any

from loadtests.engines.base import EngineError, OnSecond, OnStart, ShouldStop
from loadtests.observe.cores import pinned
from loadtests.paths import ROOT
from loadtests.records import Second
from loadtests.records.histogram import Histogram
from loadtests.workload.load import Load
from loadtests.workload.order import order

GENERATOR = ROOT / "loadtests" / "generator"
OLDEST_NODE = (20, 18, 1)  # what undici 7 needs
# MB of short-lived objects that are let lie before the collector runs: fewer pauses in the middle of sending.
YOUNG_GENERATION = "--max-semi-space-size=32"

# Processes start together, this long after the last of them is ready: time for the word to reach them all.
START_IN_S = 0.05
PREPARATION_S = 30.0
OVERTIME_S = 30.0  # past the schedule and the grace period: it hangs
ASK_EVERY_S = 0.1

Event = dict[str, Any]


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


def run(
    engine: str,
    load: Load,
    on_second: OnSecond | None,
    should_stop: ShouldStop | None,
    on_start: OnStart | None = None,
) -> tuple[list[Event], tuple[Second, ...]]:
    """Makes the load with as many processes as it asks for.

    Returns what each measured (``Measured`` in generator/job.js) and the timeline (see Result). Raises EngineError.
    """
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(_process(engine, load, index)) for index in range(load.processes)]
        for _ in _events(processes, "ready", PREPARATION_S + load.warmup_s + load.timeout_s, None):
            pass
        for process in processes:
            _demote(process.last["helpers"])
        if on_start is not None:
            on_start()
        start_ms = (time.monotonic() + START_IN_S) * 1000
        for process in processes:
            process.write({"start": start_ms})
        timeline = _Timeline(load.processes, on_second)
        limit_s = START_IN_S + load.duration_s + load.timeout_s + OVERTIME_S
        for event in _events(processes, "result", limit_s, should_stop):
            timeline.add(event)
        return [process.last for process in processes], timeline.finish()


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
def _process(engine: str, load: Load, index: int) -> Iterator[_Process]:
    with tempfile.TemporaryFile() as stderr:
        with pinned(load.core):
            popen = subprocess.Popen(
                [require(), YOUNG_GENERATION, str(GENERATOR / "main.js")],
                cwd=GENERATOR,  # not the user's directory, where a .loadtestrc might lie
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,  # Ctrl-C is for this process, which then ends its own
            )
        try:
            process = _Process(popen, stderr)
            process.write(_job(engine, load, index))
            yield process
        finally:
            popen.kill()
            popen.wait()
            for pipe in (popen.stdin, popen.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _job(engine: str, load: Load, index: int) -> Event:
    """The job of one process, as generator/job.js describes it."""
    share, rest = divmod(load.connection_count, load.processes)
    return {
        "engine": engine,
        "protocol": load.protocol,
        "origin": load.origin,
        "requests": [
            {
                "method": request.method,
                "path": request.path,
                "headers": list(itertools.chain.from_iterable(request.headers)),
                "body": _base64(request.body),
                "status": request.status,
                "expectBody": _base64(body),
            }
            for request, body in itertools.zip_longest(load.requests, load.bodies)
        ],
        "order": _base64(_order(load).tobytes()),
        "arrivalSeed": load.arrival_seed,
        "timesMs": [seconds * 1000 for seconds, _ in load.recorded] or None,
        "rate": load.rate,
        "connections": share + (index < rest),
        "durationMs": load.duration_s * 1000,
        "warmUpMs": load.warmup_s * 1000,
        "timeoutMs": load.timeout_s * 1000,
        "index": index,
        "of": load.processes,
        "keepAlive": load.keep_alive,
    }


def _order(load: Load) -> array.array[int]:
    if load.recorded:
        return array.array("H", (index for _, index in load.recorded))
    return order([request.weight for request in load.requests], load.seed)


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


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


class _Timeline:
    """Puts the seconds of several processes together."""

    def __init__(self, processes: int, on_second: OnSecond | None) -> None:
        self.processes = processes
        self.on_second = on_second
        self.parts: defaultdict[int, list[Event]] = defaultdict(list)
        self.rows: list[Second] = []

    def add(self, second: Event) -> None:
        parts = self.parts[second["t"]]
        parts.append(second)
        if len(parts) == self.processes:
            self._row(second["t"])

    def finish(self) -> tuple[Second, ...]:
        for t in sorted(self.parts):
            self._row(t)  # the last ones, in which not every process saw something
        return tuple(sorted(self.rows, key=lambda row: row.t))

    def _row(self, t: int) -> None:
        parts = self.parts.pop(t)
        times = functools.reduce(Histogram.__add__, (Histogram.decode(part["hdr"]) for part in parts))
        percentiles = (
            None if (value := times.percentile(percent)) is None else value / 1000 for percent in (50.0, 99.0)
        )
        counts = (sum(part[name] for part in parts) for name in ("sent", "completed", "ok", "errors"))
        row = Second(t, *counts, *percentiles)
        self.rows.append(row)
        if self.on_second is not None:
            self.on_second(row)
