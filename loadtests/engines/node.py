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
from loadtests.engines.generator_process import GeneratorProcess, common_start, events, results, wait_for
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
# The generator's warm-up sends in several ways for this time each, so that V8 compiles the code before the load.
COMPILE_MS = 200.0

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
    if not (ROOT / "node_modules" / "hdr-histogram-js").is_dir():
        raise EngineError("the generator's packages are not installed. Run `make setup`")
    return path


class SchedulePart(NamedTuple):
    """A part of a schedule of ``of_s`` seconds. The part starts after ``from_s`` and lasts ``lasts_s`` seconds."""

    lasts_s: float
    from_s: float = 0.0
    of_s: float = 0.0

    def to_dict(self) -> dict[str, float]:
        """Return the part in the generator's format."""
        return {"fromMs": self.from_s * 1000, "ofMs": self.of_s * 1000}


class NodeGenerator:
    """The running Node processes of an engine. They prepare and generate one load at a time.

    All methods raise EngineError if a process fails.
    """

    def __init__(self, engine: Engine, processes: Sequence[GeneratorProcess]) -> None:
        self.engine = engine
        self._processes = processes
        self._names = itertools.count(1)

    def prepare(self, load: Load, contract: bool = False) -> NodeLoad:
        """Prepare a load in all processes. To check the ``contract``, the generator explains failures.

        Raises:
            UserError: If the engine can't generate the load.
        """
        require_able(self.engine, load)
        name, token = f"{next(self._names)}", secrets.token_hex(TOKEN_BYTES)
        for index, process in enumerate(self._processes):
            how = {"contract": contract, "compileMs": 0 if contract else COMPILE_MS}
            process.write({"load": name, "job": job(self.engine.name, load, token, index) | how})
        wait_for(self._processes, "ready", _preparation_s(load))
        for process in self._processes:
            demote(process.last.get("helpers", []))  # a worker has already lowered the priority of its threads
        return NodeLoad(self.engine, name, load, self._processes)

    def spins(self) -> dict[str, float]:
        """Run the calibration (``loadtests.observe.calibration``) on every other machine that generates load.

        Returns:
            The duration of the calibration in seconds, by the machine's address.
        """
        spun = {process.machine: process.spin() for process in self._processes}
        return {machine: seconds for machine, seconds in spun.items() if seconds is not None}

    def make(self, load: Load, watch: Watch) -> Result:
        """Generate a load in a single slice and return its result. See ``base.Engine.run``."""
        prepared = self.prepare(load)
        steps = load.conversation.steps if load.conversation else 1
        for step in range(steps if steps > 1 else 0):
            if step:  # the connections of the first step are already open
                prepared.step()
            watch.on_step()
        if load.warmup_s:
            prepared.warm_up(load.warmup_s)
        watch.on_start()
        prepared.measure(load.duration_s, watch=watch)
        watch.on_end()
        return prepared.result()


class NodeLoad:
    """A prepared load, which is generated in one or several slices. Its connections stay open between the slices.

    All methods raise EngineError if a process fails.
    """

    def __init__(self, engine: Engine, name: str, load: Load, processes: Sequence[GeneratorProcess]) -> None:
        self._engine = engine
        self._name = name
        self._load = load
        self._processes = processes
        self._timeline = Timeline(len(processes))
        self._slices = 0
        self._measured_s = 0.0

    def step(self) -> None:
        """Open the connections of the next step (``Conversation.steps``). The first step's connections are open."""
        self._send({"step": True})
        wait_for(self._processes, "stepped", _preparation_s(self._load))

    def warm_up(self, seconds: float) -> None:
        """Generate the load without measuring it."""
        draw = self._load.moments(WARM_UP)
        self._slice(SchedulePart(seconds, 0.0, seconds), SchedulePart(0.0), draw, self._load.grace)

    def measure(
        self, duration_s: float, *, settle_s: float = 0.0, grace_s: float | None = None, watch: Watch = UNWATCHED
    ) -> bool:
        """Generate the load for ``settle_s`` seconds, and then measure it for ``duration_s`` seconds.

        The slices of a load with a rate are parts of one schedule of ``Load.duration_s`` seconds.

        Args:
            duration_s: The measured time in seconds.
            settle_s: The time before the measurement in seconds.
            grace_s: The time limit for outstanding requests at the end. The default is ``Load.grace``.
            watch: The functions to call. ``on_start`` and ``on_end`` aren't called, because the caller knows these
                moments.

        Returns:
            True if some outstanding requests weren't answered within the grace period.
        """
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
        """Close the connections, and return the result of all slices."""
        self._send({"close": True})
        wait_for(self._processes, "result", OVERTIME_S)
        return merge(self._engine.name, results(self._processes), self._timeline.rows(), self._load.requests)

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
        for event in events(self._processes, "over", limit_s, watch.should_stop):
            self._timeline.add(event, watch.on_second)
        self._timeline.over(watch.on_second)
        return any(process.last["inVain"] for process in self._processes)

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

    The processes run in the generator's folder, because the user's folder may contain a .loadtestrc. See
    ``cluster.running``.
    """
    with cluster.running(PROGRAM, command(), GENERATOR, processes, core, others) as found:
        yield NodeGenerator(engine, found)


def demote(threads: list[int]) -> None:
    """Let V8's threads run only when no other thread needs their core (SCHED_IDLE, sched(7)).

    These threads compile code and collect garbage while another thread sends requests. On a shared core, each of their
    time slices would delay a request by several milliseconds.
    """
    if hasattr(os, "SCHED_IDLE"):
        for thread in threads:
            with contextlib.suppress(OSError):  # the thread has ended, or a sandbox forbids the call
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
