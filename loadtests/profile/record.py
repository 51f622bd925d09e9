"""Run the rounds of a profile: serve a setup, send load, and sample its processes."""

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
from loadtests.engines.base import Watch
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

WARMUP_S = 2.0  # The warm-up is at most as long as the load.
# The kernel's tick, 100, 250 or 1000 times per second, drives the timer that samples CPU time. If the tick's rate were
# a multiple of the request rate, each sample would hit the same point of a request. So the load's rate is
# slightly lower than the plan's.
OFF_THE_TICK = 0.997
BUSY = 0.8  # A busy process uses a core for at least this share of the time.
# At least up to Python 3.12, a thread can be interrupted between two steps of entering a Python function, when its
# frames aren't linked yet. faulthandler then follows random data on the C stack and may crash, depending on the code:
# Python 3.11 crashed once in 400 to 4,600 samples of Uvicorn. CPU time is therefore sampled in short loads, so that a
# crash costs only one load and a start.
SAMPLED_AT_ONCE_S = 2.0
MAX_STARTS = 12  # the maximum number of consecutive starts without a completed load

Progress = Callable[[str, int, int], None]
Place = tuple[str, str, int]


class _Died(Exception):
    """A process of the setup died during the measurement."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a profile: the setup, the application, the load, and the number of rounds."""

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
    remarks: tuple[str, ...] = ()  # notes about the served project

    def load(self, url: str) -> Load:
        """Return the plan's load for a server at ``url`` (without a path).

        Raises:
            UserError: If the load isn't valid.
        """
        return Load(
            origin=url,
            requests=self.application.addressed([Request(self.path, path=self.path)]),
            rate=self.rate and self.rate * OFF_THE_TICK,
            duration_s=self.duration_s,
            warmup_s=min(WARMUP_S, self.duration_s),
            core=self.cores.generator[0],
        )


@dataclasses.dataclass(frozen=True)
class Window:
    """The result of one load and the processes' usage, either without sampling or while CPU time was sampled."""

    result: Result
    processes: tuple[Process, ...]


Part = tuple[Window, Mapping[int, Stacks]]  # a load with sampling, and the samples of its processes by pid


@dataclasses.dataclass(frozen=True)
class ProfileRound:
    """A load without sampling, the same load with sampling (in several parts), and the processes' samples."""

    undisturbed: Window
    sampled: list[Window]
    processes: list[Sampled]


def record(plan: Plan, progress: Progress) -> list[ProfileRound]:
    """Run all rounds of a profile.

    Raises:
        UserError: If the setup can't be served, or the load can't be sent.
    """
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
        The reason why there is no file, or an empty string.
    """
    with _clear_errors(plan), _served(plan, {}) as running:
        window = _Watched(plan, running, folder)
        try:
            window.load()
        finally:
            failures = window.end()
    # py-spy can't record processes in other languages, so one file is enough.
    return "" if any(folder.glob("*.speedscope.json")) else next((why for why in failures if why), "")


@contextmanager
def _clear_errors(plan: Plan) -> Iterator[None]:
    """Raise UserError if the setup doesn't start, or if one of its processes dies in a load without sampling."""
    try:
        yield
    except NotServing as error:
        last = error.log.strip().splitlines()
        raise UserError(f"{plan.setup.name}: {error}" + (f": {last[-1]}" if last else "")) from None
    except _Died:
        raise UserError(f"{plan.setup.name}: a server process died under load, without sampling") from None


def _round(plan: Plan, report: Callable[[str, int], None]) -> ProfileRound:
    report("without sampling", 0)
    with _served(plan, {}) as running:
        undisturbed = _Window(plan, running).load()
    with folders.private("profile", memory=False) as stacks:
        report("sampling CPU time", 1)
        parts = _sampled_parts(plan, stacks, Reader(str(plan.application.served_by(plan.setup).directory)))
    return ProfileRound(undisturbed, [window for window, _ in parts], _sampled(parts, len(plan.cores.servers)))


def _sampled_parts(plan: Plan, stacks: Path, reader: Reader) -> list[Part]:
    """Run the load with sampling, and start the servers again as often as necessary.

    Raises:
        UserError: If processes die during too many consecutive starts.
    """
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
        if in_vain == MAX_STARTS:
            raise UserError(
                f"{plan.setup.name}: a server process died during the sampling in each of {MAX_STARTS} starts. Try "
                f"a newer Python"
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
    """Combine the samples of all parts. A process has a place (see ``_places``), which is the same in each start."""
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
    """Return the processes by place: role, name, and number among the processes with this role and name."""
    number_of: Counter[tuple[str, str]] = Counter()
    places = {}
    for row in sorted(window.processes, key=lambda row: row.pid):
        places[row.role, row.name, number_of[row.role, row.name]] = row
        number_of[row.role, row.name] += 1
    return places


class _Window:
    """Send one load to a running setup, and measure the usage and the samples of its processes."""

    def __init__(self, plan: Plan, running: Serving, stacks: Path | None = None) -> None:
        self.plan = plan
        self.running = running
        self.stacks = stacks
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.usage: dict[int, processes.Usage] = {}
        self.started = {part.pid for part in running.parts()}

    def load(self, duration_s: float | None = None, warmed_up: bool = False) -> Window:
        """Send the plan's load, or only ``duration_s`` seconds of the load.

        Raises:
            UserError: If no request was successful.
            _Died: If a process died.
        """
        load = dataclasses.replace(self.plan.load(self.running.url), ca=self.running.ca)
        load = dataclasses.replace(
            load, duration_s=duration_s or load.duration_s, warmup_s=0.0 if warmed_up else load.warmup_s
        )
        result = engines.get(DEFAULT_ENGINE).run(load, Watch(should_stop=self.died, on_start=self.begin))
        self.after = oncpu.sizes(self.stacks) if self.stacks else {}
        after = self._usage()
        # /proc lists an ended process until its parent has waited for it.
        if self.died() or self.usage.keys() - after.keys():
            raise _Died
        if not result.ok:
            example = next(iter(result.examples.values()), "no answer")
            raise UserError(f"{self.plan.setup.name}: no answer to {self.plan.path} had status 200: {example}")
        used = processes.difference(self.usage, after)
        if not result.rate or not sum(row.cpu_s for row in used):
            raise UserError(f"{self.plan.setup.name}: too few answers for a profile. Set a longer --duration")
        return Window(result, used)

    def begin(self) -> None:
        self.usage = self._usage()
        self.before = oncpu.sizes(self.stacks) if self.stacks else {}

    def died(self) -> bool:
        """Return whether a process died that existed when the servers were healthy, or at the end of the warm-up."""
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
        """Stop py-spy for all processes, and return the reasons why files are missing."""
        reader = Reader(str(self.plan.application.served_by(self.plan.setup).directory))
        return [spy.end(reader) for spy in self.spies]
