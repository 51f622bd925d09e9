"""What is seen while load is made, beside what its requests tell: the CPU of each role second by second, and what an
origin beside the setup plays. It disturbs by a few clocks read a second, and by one request to the origin before and
one after."""

from __future__ import annotations

import dataclasses
import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.records import CpuSample, Meanwhile, OriginSeen, OriginStage
from loadtests.serve.base import Server
from loadtests.serve.http import ask
from loadtests.services.origin import recipes
from loadtests.services.origin.latencies import Constant
from loadtests.services.origin.recipes import EVERYTHING, Recipe, Stage
from loadtests.workload import Request

if TYPE_CHECKING:
    from typing_extensions import Self

EVERY_S = 1.0
LEAST_S = 0.2  # of a last sample: a shorter one is all noise
ORIGIN_URL = "origin.url"  # in RUN_DIR: supervisor/origin.sh writes it
ORIGIN_ANSWERS_S = 10.0

Clock = Callable[[], float]
Roles = Mapping[int, str]  # by pid


class Watch:
    """Sees what happens on a running setup in a stretch of load. Entered before, left after; ``beginning`` makes of
    what is to be called right before the load what also begins to look."""

    def __init__(self, host: Host, running: Server, clock: Clock = time.monotonic) -> None:
        self._host = host
        self._running = running
        self._clock = clock
        self._origin = BesideOrigin(running.folder)
        self._cpu: CpuWatch | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._cpu is not None:
            self._cpu.stop()

    def beginning(self, begin: Callable[[], None]) -> Callable[[], None]:
        def begins() -> None:
            usage = self._host.usage(self._running.parts(), self._running.folder)
            # Of what runs on another machine it is not known second by second.
            known = self._host.cpu_s(usage)
            roles = {pid: one.role for pid, one in usage.items() if known is not None and pid in known}
            begin()
            if known is not None:
                self._cpu = CpuWatch(lambda: self._host.cpu_s(roles) or {}, roles, self._clock)
                self._cpu.start()
            self._origin.restart()  # last, so that its stages begin with the load

        return begins

    def seen(self) -> Meanwhile:
        """All of it, when the load is over."""
        cpu = self._cpu.stop() if self._cpu is not None else ()
        return Meanwhile(cpu, self._origin.seen())


class CpuWatch:
    """Reads every second what processes have used, which ``read`` says in CPU seconds by pid."""

    def __init__(self, read: Callable[[], Mapping[int, float]], roles: Roles, clock: Clock) -> None:
        self._read = read
        self._roles = roles
        self._clock = clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="cpu-watch", daemon=True)
        self._samples: list[CpuSample] = []
        self._began = self._last = 0.0
        self._used: Mapping[int, float] = {}

    def start(self) -> None:
        self._used, self._began = self._read(), self._clock()
        self._last = self._began
        self._thread.start()

    def stop(self) -> tuple[CpuSample, ...]:
        """Ends it; the last part of a second is a sample as well, unless it is too short."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()
            if self._clock() - self._last >= LEAST_S:
                self.sample()
        return tuple(self._samples)

    def sample(self) -> None:
        """What was used since the last sample. A process that has ended is left out, and one that is new."""
        used, now = self._read(), self._clock()
        elapsed = now - self._last
        cores = dict.fromkeys(self._roles.values(), 0.0)
        for pid, cpu_s in used.items():
            if pid in self._used:
                cores[self._roles[pid]] += (cpu_s - self._used[pid]) / elapsed
        rounded = {role: round(max(0.0, value), 4) for role, value in sorted(cores.items())}
        self._samples.append(CpuSample(round(now - self._began, 3), rounded))
        self._used, self._last = used, now

    def _look(self) -> None:
        while not self._over.wait(EVERY_S - (self._clock() - self._began) % EVERY_S):
            self.sample()


class BesideOrigin:
    """The origin whose address is in a folder, if there is one: told to begin anew, and asked what it saw."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def restart(self) -> None:
        """It plays its recipe from the first stage on, and counts from 0."""
        self._asked("restart")

    def seen(self) -> OriginSeen | None:
        """What it has played and seen since; None where there is none, or it answers no more."""
        counts, written = self._asked("current_count"), self._asked("current_recipe")
        if counts is None or written is None:
            return None
        totals = json.loads(counts)
        try:
            recipe = _recipe(json.loads(written))
        except UserError:
            return None
        stages = tuple(_told(stage) for stage in recipe.stages)
        return OriginSeen(stages, totals["total_requests"], totals["request_seconds"])

    def _asked(self, name: str) -> bytes | None:
        try:
            address = urlsplit((self._folder / ORIGIN_URL).read_text(encoding="utf-8").strip())
            if address.hostname is None or address.port is None:
                return None
            request = Request(name, path=f"{recipes.ADMIN}{name}")
            answer = ask(address.hostname, address.port, request, ORIGIN_ANSWERS_S)
        except (OSError, http.client.HTTPException, ValueError):
            return None
        return answer.body if answer.status == 200 else None


def _recipe(written: Any) -> Recipe:
    """The recipe whose stages are shown: that of all paths, where there are several."""
    found = recipes.parse(written, "current_recipe")
    return next((recipe for recipe in found if recipe.route == EVERYTHING), found[0])


def _told(stage: Stage) -> OriginStage:
    shares = {"failures": stage.failures, "resets": stage.resets, "stalls": stage.stalls}
    troubles = [f"{share:.3g} {name}" for name, share in shares.items() if share]
    told = ", ".join([f"{stage.status} after {stage.distribution.describe()} ms", *troubles])
    latency_ms = stage.distribution.seconds * 1000 if isinstance(stage.distribution, Constant) else None
    return OriginStage(stage.at_s, told, 200 <= stage.status < 300 and not troubles, latency_ms)


@dataclasses.dataclass(frozen=True)
class Lasted:
    """A stretch of load: how long it settled and was measured, in seconds, and what was seen meanwhile."""

    settle_s: float
    measured_s: float
    seen: Meanwhile


def joined(stretches: Sequence[Lasted]) -> Meanwhile:
    """What was seen in several stretches, on the one time axis of what was measured. An origin plays its recipe anew in
    each: where there are several stretches and several stages, no second has one of them."""
    cpu: list[CpuSample] = []
    measured_s = 0.0
    for one in stretches:
        for sample in one.seen.cpu:
            within = min(max(0.0, sample.t - one.settle_s), one.measured_s)
            cpu.append(dataclasses.replace(sample, t=round(measured_s + within, 3)))
        measured_s += one.measured_s
    return Meanwhile(tuple(cpu), _one_origin(stretches))


def _one_origin(stretches: Sequence[Lasted]) -> OriginSeen | None:
    found = [(one.settle_s, one.seen.origin) for one in stretches if one.seen.origin is not None]
    if not found:
        return None
    settle_s, last = found[-1]
    stages = tuple(dataclasses.replace(stage, t=round(stage.t - settle_s, 3)) for stage in last.stages)
    return OriginSeen(
        stages if len(stretches) == 1 or len(stages) == 1 else (),
        sum(origin.requests for _, origin in found),
        round(sum(origin.request_s for _, origin in found), 3),
    )
