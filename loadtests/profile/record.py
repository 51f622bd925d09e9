"""The rounds of a profile: serves a setup, sends it load, and samples its processes."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType

from loadtests import engines
from loadtests.cleanup import folders
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.observe import processes
from loadtests.observe.cores import Cores
from loadtests.profile import oncpu, pyspy
from loadtests.profile.shares import Sampled
from loadtests.profile.stacks import Reader
from loadtests.records import Process, Result
from loadtests.serve.serving import NotServing, Serving, serving
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.workload import DEFAULT_ENGINE, Load, Request

WARMUP_S = 2.0  # and no longer than the load itself
# The timer that samples CPU time is driven by the kernel's tick, 100, 250 or 1000 times a second. Requests at a rate
# that divides it would be met at the same point of their way each time.
OFF_THE_TICK = 0.997
BUSY = 0.8  # of the time
# Up to Python 3.12 at least, a thread can be interrupted between two steps of entering a Python function, where its
# frames are not linked yet; faulthandler then follows a pointer to nowhere. Python 3.11 died so once in 2,700 to 4,600
# samples of Uvicorn: on each start of the servers that is sampled, every second time or less.
MOST_STARTS = 6

Progress = Callable[[str, int, int], None]


class _Died(Exception):
    """A process of the setup died while it was measured."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is to be profiled: the setup, what is served, the load, and how often."""

    setup: Setup
    application: Application
    path: str
    rate: float | None
    duration_s: float
    rounds: int
    host: Host
    bind: str
    port: int
    cores: Cores
    remarks: tuple[str, ...] = ()  # on the project that is served

    def load(self, url: str) -> Load:
        """The load of one window on a server at ``url`` (without a path). Raises UserError."""
        host = self.application.host
        request = Request(self.path, path=self.path, headers=(("Host", host),) if host else ())
        return Load(
            origin=url,
            requests=(request,),
            rate=self.rate and self.rate * OFF_THE_TICK,
            duration_s=self.duration_s,
            warmup_s=min(WARMUP_S, self.duration_s),
            core=self.cores.generator[0],
        )


@dataclasses.dataclass(frozen=True)
class Window:
    """One load: undisturbed, sampled (its CPU time) or watched (by py-spy as well)."""

    kind: str
    result: Result
    processes: tuple[Process, ...]


@dataclasses.dataclass(frozen=True)
class ProfileRound:
    """Two starts of the servers and three loads, one of each kind. The samples are those of the second start:
    ``broken`` counts the unreadable ones, ``failures`` says by process why py-spy could not look into it."""

    windows: list[Window]
    processes: list[Sampled]
    broken: int
    errors: int
    failures: dict[str, str]


def record(plan: Plan, progress: Progress) -> list[ProfileRound]:
    """All rounds. Raises UserError where the setup cannot be served or the load cannot be sent."""
    steps = 3 * plan.rounds
    rounds = []
    for number in range(plan.rounds):

        def report(doing: str, step: int, number: int = number) -> None:
            progress(f"round {number + 1} of {plan.rounds}: {doing}", 3 * number + step, steps)

        try:
            rounds.append(_round(plan, report))
        except NotServing as error:
            last = error.log.strip().splitlines()
            raise UserError(f"{plan.setup.name}: {error}" + (f": {last[-1]}" if last else "")) from None
    return rounds


def _round(plan: Plan, report: Callable[[str, int], None]) -> ProfileRound:
    report("without sampling", 0)
    with _served(plan, {}) as running:
        try:
            undisturbed = _Window(plan, running, "undisturbed").load()
        except _Died:
            raise UserError(f"{plan.setup.name}: a process of it died under load, with no sampling at all") from None
    for _ in range(MOST_STARTS):
        try:
            return _sampled_round(plan, undisturbed, report)
        except _Died:  # its replacement was measured as well, so the window is of no use
            continue
    raise UserError(
        f"{plan.setup.name}: a process of it died at each of {MOST_STARTS} starts while it was sampled; give it a "
        "shorter --duration, or a newer Python"
    )


def _sampled_round(plan: Plan, undisturbed: Window, report: Callable[[str, int], None]) -> ProfileRound:
    """The second start. Raises _Died."""
    with folders.private("profile", memory=False) as stacks:
        reader = Reader(str(plan.application.directory))
        existing = plan.application.environment_for(plan.setup).get("PYTHONPATH") or os.environ.get("PYTHONPATH")
        with _served(plan, oncpu.environment(stacks, existing)) as running:
            report("sampling CPU time", 1)
            sampled = _Window(plan, running, "sampled", stacks)
            windows = [undisturbed, sampled.load()]
            report("looking at all threads", 2)
            watched = _Watched(plan, running, "watched", stacks)
            try:
                windows.append(watched.load())
            finally:
                threads = watched.threads(reader)
        found = oncpu.between(stacks, sampled.before, sampled.after, reader)
    return ProfileRound(
        windows=windows,
        processes=_sampled(windows[1], len(plan.cores.servers), found, threads),
        broken=sum(one.broken for one in found.values()),
        errors=sum(one.errors for one in threads.values()),
        failures={
            row.name: threads[row.pid].failure
            for row in windows[2].processes
            if row.pid in threads and threads[row.pid].failure
        },
    )


def _served(plan: Plan, env: Mapping[str, str]) -> AbstractContextManager[Serving]:
    env = {**env, **plan.cores.knobs(env)}
    env = {**env, "BIND": plan.bind, "PORT": str(plan.port)}
    return serving(plan.setup, env, plan.application, plan.host)


def _sampled(
    window: Window, cores: int, found: dict[int, oncpu.OnCpu], threads: dict[int, pyspy.Threads]
) -> list[Sampled]:
    """The processes of a window with their samples."""
    seconds = window.result.generator[0].wall_s
    all_busy = sum(row.cpu_s for row in window.processes) >= BUSY * cores * seconds
    nothing = pyspy.Threads(Counter(), 0)
    return [
        Sampled(
            role=row.role,
            name=row.name,
            cpu_s=row.cpu_s,
            seconds=seconds,
            interval_s=oncpu.INTERVAL_S,
            stacks=found[row.pid].stacks if row.pid in found else None,
            busy=all_busy or row.cpu_s >= BUSY * seconds,
            threads=threads.get(row.pid, nothing).stacks,
            looks=threads.get(row.pid, nothing).looks,
        )
        for row in window.processes
    ]


class _Window:
    """One load on a running setup, and what its processes used and wrote during it."""

    def __init__(self, plan: Plan, running: Serving, kind: str, stacks: Path | None = None) -> None:
        self.plan = plan
        self.running = running
        self.kind = kind
        self.stacks = stacks
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.usage: dict[int, processes.Usage] = {}
        self.started = {part.pid for part in running.parts()}

    def load(self) -> Window:
        """Sends the load. Raises UserError where nothing of it was answered well, and _Died."""
        load = dataclasses.replace(self.plan.load(self.running.url), ca=self.running.ca)
        result = engines.get(DEFAULT_ENGINE).run(load, should_stop=self.died, on_start=self.begin)
        self.after = oncpu.sizes(self.stacks) if self.stacks else {}
        after = self._usage()
        if self.died() or self.usage.keys() - after.keys():  # one that nobody has reaped is in /proc still
            raise _Died
        if not result.ok:
            example = next(iter(result.examples.values()), "no answer")
            raise UserError(f"{self.plan.setup.name}: no request to {self.plan.path} was answered with 200: {example}")
        used = processes.difference(self.usage, after)
        if not result.rate or not sum(row.cpu_s for row in used):
            raise UserError(f"{self.plan.setup.name}: too little was answered to profile; give it a longer --duration")
        return Window(self.kind, result, used)

    def begin(self) -> None:
        self.usage = self._usage()
        self.before = oncpu.sizes(self.stacks) if self.stacks else {}

    def died(self) -> bool:
        """True once a process is gone that existed when the servers were healthy, or after the warm-up."""
        return not all(os.path.exists(f"/proc/{pid}") for pid in self.started | self.usage.keys())

    def _usage(self) -> dict[int, processes.Usage]:
        return self.plan.host.usage(self.running.parts(), self.running.folder)


class _Watched(_Window):
    """A load under which py-spy looks at every Python process."""

    spies: Mapping[int, pyspy.Spy] = MappingProxyType({})

    def begin(self) -> None:
        super().begin()
        assert self.stacks is not None
        core = self.plan.cores.generator[0]
        # Only Python's processes write stacks; a program like Redis has none.
        self.spies = {pid: pyspy.Spy(pid, self.stacks / f"{pid}.raw", core) for pid in self.usage if pid in self.before}

    def threads(self, reader: Reader) -> dict[int, pyspy.Threads]:
        """What py-spy saw, by pid."""
        return {pid: spy.end(reader) for pid, spy in self.spies.items()}
