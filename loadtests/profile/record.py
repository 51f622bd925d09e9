"""The rounds of a profile: serves a setup, sends it load, and samples its processes."""

from __future__ import annotations

import dataclasses
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from loadtests import engines
from loadtests.cleanup import folders
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.observe import processes
from loadtests.observe.cores import Cores
from loadtests.profile import oncpu, pyspy
from loadtests.profile.shares import Sampled
from loadtests.profile.stacks import Reader, Stacks
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
# frames are not linked yet; faulthandler then follows whatever the C stack held there. How often that is no frame
# depends on the code: Python 3.11 died so once in 400 to 4,600 samples of Uvicorn. So CPU time is sampled in short
# loads, and a death costs the one that it fell into and a start.
SAMPLED_AT_ONCE_S = 2.0
MOST_STARTS = 12  # in a row from which no load came

Progress = Callable[[str, int, int], None]
Place = tuple[str, str, int]


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
    """One load: undisturbed, or with samples of the CPU time."""

    result: Result
    processes: tuple[Process, ...]


Part = tuple[Window, Mapping[int, Stacks]]  # a sampled load, and the samples of its processes by pid


@dataclasses.dataclass(frozen=True)
class ProfileRound:
    """A load without samples, the same load with samples in several parts, and the samples of the processes."""

    undisturbed: Window
    sampled: list[Window]
    processes: list[Sampled]


def record(plan: Plan, progress: Progress) -> list[ProfileRound]:
    """All rounds. Raises UserError where the setup cannot be served or the load cannot be sent."""
    steps = 2 * plan.rounds + 1
    rounds = []
    for number in range(plan.rounds):

        def report(doing: str, step: int, number: int = number) -> None:
            progress(f"round {number + 1} of {plan.rounds}: {doing}", 2 * number + step, steps)

        with _clear_errors(plan):
            rounds.append(_round(plan, report))
    return rounds


def watch(plan: Plan, folder: Path) -> str:
    """Serve the setup once more under load, while py-spy writes a file for each Python process into a folder.

    Returns:
        The reason if there is no file, or an empty string.
    """
    with _clear_errors(plan), _served(plan, {}) as running:
        window = _Watched(plan, running, folder)
        try:
            window.load()
        finally:
            failures = window.end()
    # A process that isn't Python's has no file, and needs none.
    return "" if any(folder.glob("*.speedscope.json")) else next((why for why in failures if why), "")


@contextmanager
def _clear_errors(plan: Plan) -> Iterator[None]:
    """Raise UserError for a setup that doesn't start, or whose process dies without sampling."""
    try:
        yield
    except NotServing as error:
        last = error.log.strip().splitlines()
        raise UserError(f"{plan.setup.name}: {error}" + (f": {last[-1]}" if last else "")) from None
    except _Died:
        raise UserError(f"{plan.setup.name}: a process of it died under load, with no sampling at all") from None


def _round(plan: Plan, report: Callable[[str, int], None]) -> ProfileRound:
    report("without sampling", 0)
    with _served(plan, {}) as running:
        undisturbed = _Window(plan, running).load()
    with folders.private("profile", memory=False) as stacks:
        report("sampling CPU time", 1)
        parts = _sampled_parts(plan, stacks, Reader(str(plan.application.directory)))
    return ProfileRound(undisturbed, [window for window, _ in parts], _sampled(parts, len(plan.cores.servers)))


def _sampled_parts(plan: Plan, stacks: Path, reader: Reader) -> list[Part]:
    """The sampled load, on as many starts of the servers as it takes. Raises UserError."""
    number = math.ceil(plan.duration_s / SAMPLED_AT_ONCE_S)
    parts: list[Part] = []
    in_vain = 0
    while len(parts) < number:
        before = len(parts)
        with _served(plan, _sampler(plan, stacks)) as running, suppress(_Died):
            while len(parts) < number:
                window = _Window(plan, running, stacks)
                part = window.load(plan.duration_s / number, warmed_up=len(parts) > before)
                parts.append((part, oncpu.between(stacks, window.before, window.after, reader)))
        in_vain = 0 if len(parts) > before else in_vain + 1
        if in_vain == MOST_STARTS:
            raise UserError(
                f"{plan.setup.name}: a process of it died at each of {MOST_STARTS} starts while it was sampled; "
                "profile it on a newer Python"
            )
    return parts


def _sampler(plan: Plan, stacks: Path) -> dict[str, str]:
    existing = plan.application.environment_for(plan.setup).get("PYTHONPATH") or os.environ.get("PYTHONPATH")
    return oncpu.environment(stacks, existing)


def _served(plan: Plan, env: Mapping[str, str]) -> AbstractContextManager[Serving]:
    env = {**env, **plan.cores.knobs(env)}
    env = {**env, "BIND": plan.bind, "PORT": str(plan.port)}
    return serving(plan.setup, env, plan.application, plan.host)


def _sampled(parts: Sequence[Part], cores: int) -> list[Sampled]:
    """The processes with their samples. Each start has processes of its own: they are those of the same place."""
    seconds = sum(window.result.generator[0].wall_s for window, _ in parts)
    cpu_s: defaultdict[Place, float] = defaultdict(float)
    stacks: dict[Place, Stacks] = {}
    for window, found in parts:
        for place, row in _places(window).items():
            cpu_s[place] += row.cpu_s
            if row.pid in found:
                stacks.setdefault(place, Counter()).update(found[row.pid])
    all_busy = sum(cpu_s.values()) >= BUSY * cores * seconds
    return [
        Sampled(
            role=place[0],
            name=place[1],
            cpu_s=used,
            seconds=seconds,
            interval_s=oncpu.INTERVAL_S,
            stacks=stacks.get(place),
            busy=all_busy or used >= BUSY * seconds,
        )
        for place, used in cpu_s.items()
    ]


def _places(window: Window) -> dict[Place, Process]:
    """The processes by role, name, and the number among those of that name."""
    number_of: Counter[tuple[str, str]] = Counter()
    places = {}
    for row in sorted(window.processes, key=lambda row: row.pid):
        places[row.role, row.name, number_of[row.role, row.name]] = row
        number_of[row.role, row.name] += 1
    return places


class _Window:
    """One load on a running setup, and what its processes used and wrote during it."""

    def __init__(self, plan: Plan, running: Serving, stacks: Path | None = None) -> None:
        self.plan = plan
        self.running = running
        self.stacks = stacks
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.usage: dict[int, processes.Usage] = {}
        self.started = {part.pid for part in running.parts()}

    def load(self, duration_s: float | None = None, warmed_up: bool = False) -> Window:
        """Sends the load, the plan's or ``duration_s`` of it. Raises UserError where nothing of it was answered well,
        and _Died."""
        load = dataclasses.replace(self.plan.load(self.running.url), ca=self.running.ca)
        load = dataclasses.replace(
            load, duration_s=duration_s or load.duration_s, warmup_s=0.0 if warmed_up else load.warmup_s
        )
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
        return Window(result, used)

    def begin(self) -> None:
        self.usage = self._usage()
        self.before = oncpu.sizes(self.stacks) if self.stacks else {}

    def died(self) -> bool:
        """True once a process is gone that existed when the servers were healthy, or after the warm-up."""
        return not all(os.path.exists(f"/proc/{pid}") for pid in self.started | self.usage.keys())

    def _usage(self) -> dict[int, processes.Usage]:
        return self.plan.host.usage(self.running.parts(), self.running.folder)


class _Watched(_Window):
    """A load during which py-spy records every process."""

    def __init__(self, plan: Plan, running: Serving, folder: Path) -> None:
        super().__init__(plan, running)
        self.folder = folder
        self.spies: list[pyspy.Spy] = []

    def begin(self) -> None:
        super().begin()
        core = self.plan.cores.generator[0]
        for pid, usage in self.usage.items():
            self.spies.append(pyspy.Spy(pid, self.folder / f"{usage.role}-{pid}.speedscope.json", core))

    def end(self) -> list[str]:
        """Stop py-spy and return the reason of each failure."""
        reader = Reader(str(self.plan.application.directory))
        return [spy.end(reader) for spy in self.spies]
