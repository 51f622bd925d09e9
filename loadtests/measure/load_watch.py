"""Observe a load without disturbing it: the CPU use by role each second, and the recipe of the setup's origin."""

from __future__ import annotations

import dataclasses
import http.client
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.observe.sampler import Sampler
from loadtests.records import CpuSample, OriginObservation, OriginStage
from loadtests.serve.http import ask
from loadtests.serve.serving import Serving
from loadtests.services.origin import recipes
from loadtests.services.origin.latencies import Constant
from loadtests.services.origin.recipes import EVERYTHING, Stage
from loadtests.workload import Request

EVERY_S = 1.0
SHORTEST_S = 0.2  # a shorter last sample is mostly noise
ORIGIN_URL = "origin.url"  # supervisor/origin.sh writes this file to RUN_DIR
ORIGIN_ANSWERS_S = 10.0


class CpuWatch:
    """Sample the CPU use of a running setup by role, every second.

    Args:
        host: The machine of the setup. A remote host doesn't know the CPU use.
        server: The running setup.
        clock: Returns the time in seconds.
    """

    def __init__(self, host: Host, server: Serving, clock: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._server = server
        self._clock = clock
        self._roles: dict[int, str] = {}
        self._used: Mapping[int, float] = {}
        self._began = self._last = 0.0
        self._samples: list[CpuSample] = []
        self._sampler = Sampler(self.sample, EVERY_S)

    def find_processes(self) -> None:
        """Find the processes to observe."""
        # leave out services whose processes start and end during the load
        parts = [part for part in self._server.parts() if not part.as_one]
        usage = self._host.usage(parts, self._server.folder)
        known = self._host.cpu_s(usage) or {}  # None for a remote host; never includes processes on other hosts
        self._roles = {pid: one.role for pid, one in usage.items() if pid in known}

    def start(self) -> None:
        """Start the observation, if the CPU use is known."""
        if self._roles:
            self._used, self._began = self._read(), self._clock()
            self._last = self._began
            self._sampler.start()

    def stop(self) -> tuple[CpuSample, ...]:
        """Stop, and return the samples. The last incomplete second is a sample, too, unless it is too short."""
        if self._sampler.stop() and self._clock() - self._last >= SHORTEST_S:
            self.sample()
        return tuple(self._samples)

    def sample(self) -> None:
        """Add a sample of the CPU use since the previous sample. Include only processes that existed at both times."""
        used, now = self._read(), self._clock()
        elapsed = now - self._last
        cores = dict.fromkeys(self._roles.values(), 0.0)
        for pid, cpu_s in used.items():
            if pid in self._used:
                cores[self._roles[pid]] += (cpu_s - self._used[pid]) / elapsed
        rounded = {role: round(max(0.0, value), 4) for role, value in sorted(cores.items())}
        self._samples.append(CpuSample(round(now - self._began, 3), rounded))
        self._used, self._last = used, now

    def _read(self) -> Mapping[int, float]:
        return self._host.cpu_s(self._roles) or {}


class OriginWatch:
    """Observe the origin of a running setup, if any. The setup's folder contains the origin's address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def restart(self) -> None:
        """Restart the origin's recipe at the first stage, and reset the origin's counts."""
        self._ask("restart")

    def observed(self) -> OriginObservation | None:
        """Return the stages and counts since the restart, or None if there is no origin that answers."""
        counts, playing = self._ask("current_count"), self._ask("current_recipe")
        if counts is None or playing is None:
            return None
        totals = json.loads(counts)
        try:
            found = recipes.parse(json.loads(playing), "current_recipe")
        except UserError:
            return None
        recipe = next((one for one in found if one.route == EVERYTHING), found[0])
        return OriginObservation(tuple(map(_stage, recipe.stages)), totals["total_requests"], totals["request_seconds"])

    def _ask(self, name: str) -> bytes | None:
        try:
            address = urlsplit((self._folder / ORIGIN_URL).read_text(encoding="utf-8").strip())
            if address.hostname is None or address.port is None:
                return None
            request = Request(name, path=f"{recipes.ADMIN}{name}")
            answer = ask(address.hostname, address.port, request, ORIGIN_ANSWERS_S)
        except (OSError, http.client.HTTPException, ValueError):
            return None
        return answer.body if answer.status == 200 else None


def _stage(stage: Stage) -> OriginStage:
    shares = {"failures": stage.failures, "resets": stage.resets, "stalls": stage.stalls}
    troubles = [f"{share:.3g} {name}" for name, share in shares.items() if share]
    text = ", ".join([f"{stage.status} after {stage.distribution.describe()} ms", *troubles])
    latency_ms = stage.distribution.seconds * 1000 if isinstance(stage.distribution, Constant) else None
    return OriginStage(stage.at_s, text, 200 <= stage.status < 300 and not troubles, latency_ms)


def one_origin(slices: Sequence[tuple[float, OriginObservation | None]]) -> OriginObservation | None:
    """Combine the observations of the origin in all slices.

    The origin restarts its recipe in each slice. If the recipe has several stages, the result doesn't contain the
    stages, because the slices have no common time axis.

    Args:
        slices: For each slice, the seconds until the load settled, and the observation.
    """
    found = [(settle_s, origin) for settle_s, origin in slices if origin is not None]
    if not found:
        return None
    settle_s, last = found[-1]
    stages = tuple(dataclasses.replace(stage, t=round(stage.t - settle_s, 3)) for stage in last.stages)
    return OriginObservation(
        stages if len(slices) == 1 or len(stages) == 1 else (),
        sum(origin.requests for _, origin in found),
        round(sum(origin.request_s for _, origin in found), 3),
    )
