"""Serve a setup, send load, and sample its processes."""

from __future__ import annotations

import dataclasses
import math
import os
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from loadtests import engines
from loadtests.cleanup import folders
from loadtests.engines.base import Watch
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.observe import processes
from loadtests.observe.cores import Cores
from loadtests.profile import oncpu
from loadtests.profile.shares import Role
from loadtests.profile.stacks import Reader
from loadtests.records import Process
from loadtests.serve.serving import NotServing, Serving, serving
from loadtests.setups import Setup
from loadtests.setups.application import Application
from loadtests.workload import DEFAULT_ENGINE, Load, Request

WARMUP_S = 2.0
BUSY = 0.8  # A busy process uses a core for at least this share of the time.
# At least up to Python 3.12, a thread can be interrupted between two steps of entering a Python function, when its
# frames aren't linked yet. faulthandler then follows random data on the C stack and may crash, depending on the code:
# Python 3.11 crashed once in 400 to 4,600 samples of Uvicorn. CPU time is therefore sampled in short loads, so that a
# crash costs only one load and a start.
SAMPLED_AT_ONCE_S = 2.0
MAX_STARTS = 12  # the maximum number of consecutive starts without a completed load

Progress = Callable[[str, int, int], None]


class _Died(Exception):
    """A process of the setup died during the measurement."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a profile: the setup, the application and the load."""

    setup: Setup
    application: Application
    path: str
    duration_s: float
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
            duration_s=self.duration_s,
            warmup_s=WARMUP_S,
            core=self.cores.generator[0],
        )


class Samples:
    """The samples of all loads of a profile, by role, with the number of answered requests."""

    def __init__(self, plan: Plan) -> None:
        self.requests = 0
        self.seconds = 0.0
        self._roles: dict[str, Role] = {}
        self._cores = len(plan.cores.servers)
        self._busiest_s: defaultdict[str, float] = defaultdict(float)
        self._reader = Reader(str(plan.application.served_by(plan.setup).directory))

    def add(self, load: _SampledLoad, used: tuple[Process, ...], requests: int, seconds: float) -> None:
        """Add the samples and the usage of one load."""
        stacks = oncpu.between(load.folder, load.before, load.after, self._reader)
        self.requests += requests
        self.seconds += seconds
        for name in {row.role for row in used}:
            self._busiest_s[name] += max(row.cpu_s for row in used if row.role == name)
        for row in used:
            role = self._roles.setdefault(row.role, Role(row.role, oncpu.INTERVAL_S))
            role.cpu_s += row.cpu_s
            role.names.add(row.name)
            role.stacks.update(stacks.get(row.pid, {}))

    def roles(self) -> list[Role]:
        """Return the roles, starting with the role that used the most CPU time."""
        all_busy = sum(role.cpu_s for role in self._roles.values()) >= BUSY * self._cores * self.seconds
        for role in self._roles.values():
            role.busy = all_busy or self._busiest_s[role.role] >= BUSY * self.seconds
        return sorted(self._roles.values(), key=lambda role: -role.cpu_s)


def record(plan: Plan, progress: Progress) -> Samples:
    """Run the load in short parts, and start the servers again as often as necessary.

    Raises:
        UserError: If the setup can't be served, the load can't be sent, or processes die too often.
    """
    parts = math.ceil(plan.duration_s / SAMPLED_AT_ONCE_S)
    recording, done, starts = Samples(plan), 0, 0
    with folders.private("profile", memory=False) as folder:
        while done < parts:
            starts += 1
            if starts > MAX_STARTS:
                raise UserError(
                    f"{plan.setup.name}: a server process died during the sampling in each of {MAX_STARTS} starts. Try "
                    "a newer Python"
                )
            try:
                with _served(plan, folder) as running, suppress(_Died):
                    warmup_s = WARMUP_S
                    while done < parts:
                        progress(plan.setup.label, done, parts)
                        _SampledLoad(plan, running, folder).run(recording, plan.duration_s / parts, warmup_s)
                        done, starts, warmup_s = done + 1, 0, 0.0
            except NotServing as error:
                last = error.log.strip().splitlines()
                raise UserError(f"{plan.setup.name}: {error}" + (f": {last[-1]}" if last else "")) from None
    return recording


def _served(plan: Plan, folder: Path) -> AbstractContextManager[Serving]:
    existing = plan.application.environment_for(plan.setup).get("PYTHONPATH") or os.environ.get("PYTHONPATH")
    env = oncpu.environment(folder, existing)
    env = {**env, **plan.cores.knobs(env), "BIND": plan.bind, "PORT": str(plan.port)}
    return serving(plan.setup, env, plan.application, plan.host)


class _SampledLoad:
    """Send one load to a running setup, and measure the usage and the samples of its processes."""

    def __init__(self, plan: Plan, running: Serving, folder: Path) -> None:
        self.plan = plan
        self.running = running
        self.folder = folder
        self.before: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.usage: dict[int, processes.Usage] = {}
        self.started = {part.pid for part in running.parts()}

    def run(self, recording: Samples, duration_s: float, warmup_s: float) -> None:
        """Send the load and add its samples to ``recording``.

        Raises:
            UserError: If no request was successful.
            _Died: If a process died.
        """
        load = dataclasses.replace(
            self.plan.load(self.running.url), ca=self.running.ca, duration_s=duration_s, warmup_s=warmup_s
        )
        result = engines.get(DEFAULT_ENGINE).run(load, Watch(should_stop=self.died, on_start=self.begin))
        self.after = oncpu.sizes(self.folder)
        usage = self._usage()
        # /proc lists an ended process until its parent has waited for it.
        if self.died() or self.usage.keys() - usage.keys():
            raise _Died
        if not result.ok:
            example = next(iter(result.examples.values()), "no answer")
            raise UserError(f"{self.plan.setup.name}: no answer to {self.plan.path} had status 200: {example}")
        used = processes.difference(self.usage, usage)
        recording.add(self, used, result.completed, result.generator[0].wall_s)

    def begin(self) -> None:
        self.usage = self._usage()
        self.before = oncpu.sizes(self.folder)

    def died(self) -> bool:
        """Return whether a process died that existed when the servers were healthy, or at the end of the warm-up."""
        return not all(os.path.exists(f"/proc/{pid}") for pid in self.started | self.usage.keys())

    def _usage(self) -> dict[int, processes.Usage]:
        return self.plan.host.usage(self.running.parts(), self.running.folder)
