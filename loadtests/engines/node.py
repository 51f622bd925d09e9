"""The generator's Node processes, here and on other machines, and the loads that they make."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from loadtests.engines import cluster, require_able
from loadtests.engines.base import Engine, EngineError, OnEnd, OnSecond, OnStart, Others, ShouldStop
from loadtests.engines.generator_process import GeneratorProcess, common_start, events, results, start, wait_for
from loadtests.engines.job import job
from loadtests.engines.merge import merge
from loadtests.engines.timeline import Event, Timeline
from loadtests.files import ROOT
from loadtests.records import Result
from loadtests.workload.load import Load

PROGRAM = "generator"  # as a worker knows it
GENERATOR = ROOT / "loadtests" / "generator"
OLDEST_NODE = (20, 18, 1)  # what undici 7 needs
# MB of short-lived objects that are let lie before the collector runs: fewer pauses in the middle of sending.
YOUNG_GENERATION = "--max-semi-space-size=32"

PREPARATION_S = 30.0
OPENED_PER_S = 100.0  # connections, at the least
OVERTIME_S = 30.0  # past the schedule and the grace period: it hangs

TOKEN_BYTES = 4  # of a load, twice as many digits
MEASURED, WARM_UP = 0, -1  # which moments are drawn


@functools.cache
def require() -> str:
    """The path of Node. Raises EngineError, with what to do, where Node or its packages are not as needed."""
    path = shutil.which("node")
    oldest = ".".join(map(str, OLDEST_NODE))
    if path is None:
        raise EngineError(f"there is no node on PATH; install Node.js {oldest} or newer (https://nodejs.org)")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if numbers < OLDEST_NODE:
        raise EngineError(f"{path} is Node {version or 'of unknown version'}; {oldest} or newer is needed")
    if not (ROOT / "node_modules" / "undici").is_dir():
        raise EngineError("the generator's packages are not installed; run `make setup`")
    return path


def protocols() -> list[str]:
    """The protocols of the generator: the files of its folder ``protocols``, without their .js."""
    return sorted(file.stem for file in (GENERATOR / "protocols").glob("*.js"))


def dialects() -> list[str]:
    """The dialects of WebSocket servers: the files of its folder ``dialects``, without their .js."""
    return sorted(file.stem for file in (GENERATOR / "dialects").glob("*.js"))


class SchedulePart(NamedTuple):
    """Seconds of a schedule: ``lasts_s`` of them, after ``from_s`` of all its ``of_s``."""

    lasts_s: float
    from_s: float = 0.0
    of_s: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """As the generator reads it."""
        return {"fromMs": self.from_s * 1000, "ofMs": self.of_s * 1000}


class NodeGenerator:
    """See base.LoadMaker."""

    def __init__(self, engine: Engine, processes: Sequence[GeneratorProcess]) -> None:
        self.engine = engine
        self._processes = processes
        self._names = itertools.count(1)

    def prepare(self, load: Load) -> NodeLoad:
        """See base.LoadMaker."""
        require_able(self.engine, load)
        name, token = f"{next(self._names)}", secrets.token_hex(TOKEN_BYTES)
        for index, process in enumerate(self._processes):
            process.write({"load": name, "job": job(self.engine.name, load, token, index)})
        wait_for(self._processes, "ready", _preparation_s(load))
        for process in self._processes:
            demote(process.last["helpers"])
        return NodeLoad(self.engine, name, load, self._processes)

    def spins(self) -> dict[str, float]:
        """See base.LoadMaker."""
        spun = {process.machine: process.spin() for process in self._processes}
        return {machine: seconds for machine, seconds in spun.items() if seconds is not None}

    def make(
        self,
        load: Load,
        on_second: OnSecond | None,
        should_stop: ShouldStop | None,
        on_start: OnStart | None,
        on_end: OnEnd | None,
    ) -> NodeLoad:
        """Makes a load in one piece: see base.Engine.run."""
        prepared = self.prepare(load)
        if load.warmup_s:
            prepared.warm_up(load.warmup_s)
        if on_start is not None:
            on_start()
        prepared.measure(load.duration_s, on_second=on_second, should_stop=should_stop)
        if on_end is not None:
            on_end()
        return prepared


class NodeLoad:
    """See base.PreparedLoad."""

    def __init__(self, engine: Engine, name: str, load: Load, processes: Sequence[GeneratorProcess]) -> None:
        self._engine = engine
        self._name = name
        self._load = load
        self._processes = processes
        self._timeline = Timeline(len(processes))
        self._slices = 0
        self._measured_s = 0.0
        self.parts: list[Event] = []
        """What each process measured (``Measured`` in generator/types.ts), once there is a result."""

    def step(self) -> None:
        """See base.PreparedLoad."""
        self._send({"step": True})
        wait_for(self._processes, "stepped", _preparation_s(self._load))

    def warm_up(self, seconds: float) -> None:
        """See base.PreparedLoad."""
        draw = self._load.moments(WARM_UP)
        self._slice(SchedulePart(seconds, 0.0, seconds), SchedulePart(0.0), draw, self._load.grace)

    def measure(
        self,
        duration_s: float,
        *,
        settle_s: float = 0.0,
        grace_s: float | None = None,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> bool:
        """See base.PreparedLoad."""
        load = self._load
        # The rate is kept over all slices: each has its part of one schedule, of what is measured and of what settles.
        slices = max(self._slices + 1, math.ceil(load.duration_s / duration_s))
        settling = SchedulePart(settle_s, settle_s * self._slices, settle_s * slices)
        measured = SchedulePart(duration_s, self._measured_s, max(load.duration_s, self._measured_s + duration_s))
        grace_s = load.grace if grace_s is None else grace_s
        in_vain = self._slice(settling, measured, load.moments(MEASURED), grace_s, on_second, should_stop)
        self._slices += 1
        self._measured_s += duration_s
        return in_vain

    def result(self) -> Result:
        """See base.PreparedLoad."""
        self._send({"close": True})
        wait_for(self._processes, "result", OVERTIME_S)
        self.parts = results(self._processes)
        with cluster.understood(self._processes):
            return merge(self._engine.name, self.parts, self._timeline.rows(), self._load.requests)

    def _slice(
        self,
        settling: SchedulePart,
        measured: SchedulePart,
        arrival_seed: int | None,
        grace_s: float,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> bool:
        if self._load.conversation is not None:
            self._send({"reopen": True})
            wait_for(self._processes, "reopened", _preparation_s(self._load))
        begin = common_start(self._processes)
        options = {
            "settleMs": settling.lasts_s * 1000,
            "durationMs": measured.lasts_s * 1000,
            "graceMs": grace_s * 1000,
            "arrivalSeed": arrival_seed,
            "settling": settling.to_dict(),
            "measured": measured.to_dict(),
        }
        for process in self._processes:
            start_ms = begin * 1000 + process.ahead_ms
            process.write({"load": self._name, "slice": {**options, "start": start_ms}})
        limit_s = begin - time.monotonic() + settling.lasts_s + measured.lasts_s + grace_s + OVERTIME_S
        with cluster.understood(self._processes):
            for event in events(self._processes, "over", limit_s, should_stop):
                if event["event"] == "sends":
                    self._pass_on(event)
                else:
                    self._timeline.add(event, on_second)
            self._timeline.over(on_second)
            return any(process.last["inVain"] for process in self._processes)

    def _pass_on(self, event: Event) -> None:
        """What a process sent into rooms that all share, to the others, each of which has a clock of its own."""
        sender = self._processes[event["index"]]
        for process in self._processes:
            if process is not sender:
                ahead_ms = process.ahead_ms - sender.ahead_ms
                sends = [(*sent, None if due is None else due + ahead_ms) for *sent, due in event["sends"]]
                process.write({"load": self._name, "sends": {"sends": sends, "all": event["all"]}})

    def _send(self, message: dict[str, Any]) -> None:
        for process in self._processes:
            process.write({"load": self._name, **message})


def _preparation_s(load: Load) -> float:
    """How long it may take at most until a load is ready."""
    connections = 0
    if (conversation := load.conversation) is not None:
        connections = conversation.receivers + conversation.sends * load.connection_count * conversation.rooms
    return PREPARATION_S + connections / OPENED_PER_S


def command() -> list[str]:
    """The command of a process. Raises EngineError."""
    return [require(), YOUNG_GENERATION, str(GENERATOR / "main.js")]


@contextlib.contextmanager
def running(engine: Engine, processes: int, core: int | None, others: Others = ()) -> Iterator[NodeGenerator]:
    """A number of processes, the last of them elsewhere, the rest here on a core, until the context ends. Raises
    EngineError and UserError."""
    with contextlib.ExitStack() as stack:
        if others:
            found = stack.enter_context(cluster.workers(PROGRAM, processes - len(others), core, others))
            yield NodeGenerator(engine, found)
        else:  # in its own folder: in the user's directory there might be a .loadtestrc
            yield NodeGenerator(
                engine,
                [stack.enter_context(start(GeneratorProcess, command(), GENERATOR, core)) for _ in range(processes)],
            )


def demote(threads: list[int]) -> None:
    """Lets V8's threads run only when nothing else needs their core (SCHED_IDLE, sched(7)).

    They compile and collect garbage next to the thread that sends. On a core that they share with it, a time slice of
    theirs delays a send by some milliseconds.
    """
    if hasattr(os, "SCHED_IDLE"):
        for thread in threads:
            with contextlib.suppress(OSError):  # it is gone, or a sandbox forbids it
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
