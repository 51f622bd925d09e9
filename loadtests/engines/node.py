"""Runs the generator's Node processes, here and elsewhere: a job in, seconds and a result out, none left behind."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence

from loadtests.engines.base import EngineError, OnSecond, ShouldStop
from loadtests.engines.child import Child, begin_together, child, events, measured
from loadtests.engines.job import job
from loadtests.engines.remote_process import afar
from loadtests.engines.timeline import Event, Timeline
from loadtests.files import ROOT
from loadtests.hosts.link import Address
from loadtests.records import Second
from loadtests.workload.load import Load

PROGRAM = "generator"  # as an agent knows it that starts one
GENERATOR = ROOT / "loadtests" / "generator"
OLDEST_NODE = (20, 18, 1)  # what undici 7 needs
# MB of short-lived objects that are let lie before the collector runs: fewer pauses in the middle of sending.
YOUNG_GENERATION = "--max-semi-space-size=32"

PREPARATION_S = 30.0
OPENED_PER_S = 100.0  # connections that are to be held, at the least
OVERTIME_S = 30.0  # past the schedule and the grace period: it hangs


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

    def __init__(self, engine: str, processes: list[Child]) -> None:
        self.engine = engine
        self._processes = processes
        self._prepared = itertools.count(1)

    def prepare(self, load: Load) -> NodeLoad:
        """Gets a load ready, of as many processes as there are. Raises EngineError."""
        name = f"{next(self._prepared)}"
        for index, process in enumerate(self._processes):
            process.write({"load": name, "job": job(self.engine, load, index)})
        for _ in events(self._processes, "ready", _preparation_s(load), None):
            pass
        for process in self._processes:
            demote(process.last["helpers"])
        return NodeLoad(name, load, self._processes)

    def spins(self) -> dict[str, float]:
        """How long a fixed piece of work takes on the other machines (see base.LoadMaker). Raises EngineError."""
        spun = {process.machine: process.spin() for process in self._processes}
        return {machine: seconds for machine, seconds in spun.items() if seconds is not None}


class NodeLoad:
    """A load that can be made, in as many slices as one likes; its connections stay open in between."""

    def __init__(self, name: str, load: Load, processes: list[Child]) -> None:
        self._name = name
        self._load = load
        self._processes = processes
        self._timeline = Timeline(len(processes))

    def slice(
        self,
        settling: SchedulePart,
        kept: SchedulePart,
        arrival_seed: int | None,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> None:
        """Makes the load for a while: what is sent while it is ``settling`` is not ``kept``. It is over when what was
        sent has its end. Raises EngineError."""
        self._mend()
        start = begin_together(self._processes)
        what = {
            "settleMs": settling.lasts_s * 1000,
            "durationMs": kept.lasts_s * 1000,
            "arrivalSeed": arrival_seed,
            "settling": {"fromMs": settling.from_s * 1000, "ofMs": settling.of_s * 1000},
            "measured": {"fromMs": kept.from_s * 1000, "ofMs": kept.of_s * 1000},
        }
        for process in self._processes:
            there = {"start": start * 1000 + process.ahead_ms}
            process.write({"load": self._name, "slice": {**what, **there}})
        limit_s = start - time.monotonic() + settling.lasts_s + kept.lasts_s + self._load.timeout_s + OVERTIME_S
        for event in events(self._processes, "over", limit_s, should_stop):
            self._timeline.add(event, on_second)
        self._timeline.over(on_second)

    def step(self) -> None:
        """Opens the next part of the connections that are to be held, where that is done in steps. Raises
        EngineError."""
        self._hold("step", "stepped")

    def _mend(self) -> None:
        """Has the connections that are to be held, and were lost, opened again."""
        if self._load.conversation is not None:
            self._hold("mend", "mended")

    def _hold(self, what: str, done: str) -> None:
        for process in self._processes:
            process.write({"load": self._name, what: True})
        for _ in events(self._processes, done, _preparation_s(self._load), None):
            pass

    def close(self) -> tuple[list[Event], tuple[Second, ...]]:
        """Closes its connections. Returns what each process measured in all slices (``Measured`` in generator/job.js)
        and the timeline (see Result). Raises EngineError."""
        for process in self._processes:
            process.write({"load": self._name, "close": True})
        for _ in events(self._processes, "result", OVERTIME_S, None):
            pass
        return measured(self._processes), self._timeline.rows()


def _preparation_s(load: Load) -> float:
    """How long it may take at most until a load is ready."""
    talk = load.conversation
    held = 0 if talk is None else talk.receivers + talk.sends * load.connection_count * talk.rooms
    return PREPARATION_S + held / OPENED_PER_S


def command() -> list[str]:
    """What starts a process of it, in its own folder: in the user's directory there might lie a .loadtestrc. Raises
    EngineError."""
    return [require(), YOUNG_GENERATION, str(GENERATOR / "main.js")]


@contextlib.contextmanager
def running(engine: str, processes: int, core: int | None, others: Sequence[Address] = ()) -> Iterator[Processes]:
    """So many processes of the generator, the last of them one each on other machines, the rest here on a core; none of
    them is left at the end. Raises EngineError and UserError."""
    with contextlib.ExitStack() as stack:
        near = [stack.enter_context(child(command(), GENERATOR, core)) for _ in range(processes - len(others))]
        far = [stack.enter_context(afar(other, PROGRAM)) for other in others]
        yield Processes(engine, [*near, *far])


def demote(threads: list[int]) -> None:
    """Lets these threads run only when nothing else wants their core (SCHED_IDLE, sched(7)).

    They are V8's, which compile and collect garbage beside the thread that sends. On a core that they share with it, a
    time slice of theirs is a send that is late by some milliseconds.
    """
    if hasattr(os, "SCHED_IDLE"):
        for thread in threads:
            with contextlib.suppress(OSError):  # it is gone, or a sandbox forbids it
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
