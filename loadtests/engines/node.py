"""Run the generator's Node processes, on this machine and on other machines."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from loadtests.engines import cluster, require_able
from loadtests.engines.base import UNWATCHED, Engine, EngineError, Others, Watch
from loadtests.engines.generator_process import Event, GeneratorProcess, common_start, events, results, start, wait_for
from loadtests.engines.job import job
from loadtests.engines.merge import Timeline, merge
from loadtests.files import ROOT
from loadtests.records import Result
from loadtests.setups import environment
from loadtests.workload.load import Load

PROGRAM = "generator"  # the name of this load program in messages to workers
GENERATOR = ROOT / "loadtests" / "generator"
# The garbage collector runs only after 32 MB of short-lived objects, so that it interrupts sending less often.
YOUNG_GENERATION = "--max-semi-space-size=32"

PREPARATION_S = 30.0
OPENED_PER_S = 100.0  # The minimum number of connections that are opened per second.
OVERTIME_S = 30.0  # A generator that still runs this long after the schedule and the grace period is stuck.

TOKEN_BYTES = 4  # A load's token has two hexadecimal digits for each byte.
MEASURED, WARM_UP = 0, -1  # The seeds of random send times.


@functools.cache
def require() -> str:
    """Return the path of the Node executable.

    Raises:
        EngineError: If Node or its packages are missing or too old. The message explains how to install them.
    """
    path = environment.node()
    oldest = ".".join(map(str, environment.OLDEST_NODE))
    if path is None:
        raise EngineError(f"node is not on PATH. Install Node.js {oldest} or newer (https://nodejs.org)")
    if (version := environment.node_version(path)) < environment.OLDEST_NODE:
        found = f"v{'.'.join(map(str, version))}" if version else "of unknown version"
        raise EngineError(f"{path} is Node {found}. Install Node {oldest} or newer")
    if not (ROOT / "node_modules" / "undici").is_dir():
        raise EngineError("the generator's packages are not installed. Run `make setup`")
    return path


def protocols() -> list[str]:
    """Return the names of the generator's protocols, which are the modules in the generator's folder ``protocols``."""
    return sorted(file.stem for file in (GENERATOR / "protocols").glob("*.js"))


def dialects() -> list[str]:
    """Return the names of the WebSocket dialects, which are the modules in the generator's folder ``dialects``."""
    return sorted(file.stem for file in (GENERATOR / "dialects").glob("*.js"))


class SchedulePart(NamedTuple):
    """A part of a schedule of ``of_s`` seconds. The part starts after ``from_s`` and lasts ``lasts_s`` seconds."""

    lasts_s: float
    from_s: float = 0.0
    of_s: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """Return the part in the generator's format."""
        return {"fromMs": self.from_s * 1000, "ofMs": self.of_s * 1000}


class NodeGenerator:
    """The running Node processes of an engine, as a ``base.LoadMaker``."""

    def __init__(self, engine: Engine, processes: Sequence[GeneratorProcess]) -> None:
        self.engine = engine
        self._processes = processes
        self._names = itertools.count(1)

    def prepare(self, load: Load) -> NodeLoad:
        require_able(self.engine, load)
        name, token = f"{next(self._names)}", secrets.token_hex(TOKEN_BYTES)
        for index, process in enumerate(self._processes):
            process.write({"load": name, "job": job(self.engine.name, load, token, index)})
        wait_for(self._processes, "ready", _preparation_s(load))
        for process in self._processes:
            demote(process.last["helpers"])
        return NodeLoad(self.engine, name, load, self._processes)

    def spins(self) -> dict[str, float]:
        spun = {process.machine: process.spin() for process in self._processes}
        return {machine: seconds for machine, seconds in spun.items() if seconds is not None}

    def make(self, load: Load, watch: Watch) -> NodeLoad:
        """Generate a load in a single slice. See ``base.Engine.run``."""
        prepared = self.prepare(load)
        if load.warmup_s:
            prepared.warm_up(load.warmup_s)
        watch.on_start()
        prepared.measure(load.duration_s, watch=watch)
        watch.on_end()
        return prepared


class NodeLoad:
    """A load that Node processes generate, as a ``base.PreparedLoad``."""

    def __init__(self, engine: Engine, name: str, load: Load, processes: Sequence[GeneratorProcess]) -> None:
        self._engine = engine
        self._name = name
        self._load = load
        self._processes = processes
        self._timeline = Timeline(len(processes))
        self._slices = 0
        self._measured_s = 0.0
        self.parts: list[Event] = []
        """The measurements of each process (``Measured`` in generator/types.ts), after the load."""

    def step(self) -> None:
        self._send({"step": True})
        wait_for(self._processes, "stepped", _preparation_s(self._load))

    def warm_up(self, seconds: float) -> None:
        draw = self._load.moments(WARM_UP)
        self._slice(SchedulePart(seconds, 0.0, seconds), SchedulePart(0.0), draw, self._load.grace)

    def measure(
        self, duration_s: float, *, settle_s: float = 0.0, grace_s: float | None = None, watch: Watch = UNWATCHED
    ) -> bool:
        load = self._load
        # All slices together must have the load's rate. So there are two schedules, one for measuring and one
        # for settling, and each slice is a part of both schedules.
        slices = max(self._slices + 1, math.ceil(load.duration_s / duration_s))
        settling = SchedulePart(settle_s, settle_s * self._slices, settle_s * slices)
        measured = SchedulePart(duration_s, self._measured_s, max(load.duration_s, self._measured_s + duration_s))
        grace_s = load.grace if grace_s is None else grace_s
        in_vain = self._slice(settling, measured, load.moments(MEASURED), grace_s, watch)
        self._slices += 1
        self._measured_s += duration_s
        return in_vain

    def result(self) -> Result:
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
        watch: Watch = UNWATCHED,
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
            for event in events(self._processes, "over", limit_s, watch.should_stop):
                if event["event"] == "sends":
                    self._pass_on(event)
                else:
                    self._timeline.add(event, watch.on_second)
            self._timeline.over(watch.on_second)
            return any(process.last["inVain"] for process in self._processes)

    def _pass_on(self, event: Event) -> None:
        """Tell the other processes which messages a process sent to shared rooms.

        The messages' times are converted to the clock of each receiving process.
        """
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
    """Return the time limit for preparing a load, in seconds."""
    connections = 0
    if (conversation := load.conversation) is not None:
        connections = conversation.receivers + conversation.sends * load.connection_count * conversation.rooms
    return PREPARATION_S + connections / OPENED_PER_S


def command() -> list[str]:
    """Return the command that starts a generator process.

    Raises:
        EngineError: If Node isn't installed.
    """
    return [require(), YOUNG_GENERATION, str(GENERATOR / "main.js")]


@contextlib.contextmanager
def running(engine: Engine, processes: int, core: int | None, others: Others = ()) -> Iterator[NodeGenerator]:
    """Run generator processes until the context ends.

    The processes with the highest indexes run on ``others``, one process on each machine or worker. The other processes
    run on a core of this machine.

    Raises:
        EngineError: If a process fails.
        UserError: If another machine isn't prepared.
    """
    with contextlib.ExitStack() as stack:
        if others:
            found = stack.enter_context(cluster.workers(PROGRAM, processes - len(others), core, others))
            yield NodeGenerator(engine, found)
        else:  # run in the generator's folder, because the user's folder may contain a .loadtestrc
            yield NodeGenerator(
                engine,
                [stack.enter_context(start(GeneratorProcess, command(), GENERATOR, core)) for _ in range(processes)],
            )


def demote(threads: list[int]) -> None:
    """Let V8's threads run only when no other thread needs their core (SCHED_IDLE, sched(7)).

    These threads compile code and collect garbage while another thread sends requests. On a shared core, each of their
    time slices would delay a request by several milliseconds.
    """
    if hasattr(os, "SCHED_IDLE"):
        for thread in threads:
            with contextlib.suppress(OSError):  # the thread has ended, or a sandbox forbids the call
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
