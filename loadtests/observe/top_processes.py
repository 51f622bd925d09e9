"""Find the programs that use the machine's cores, so that the user can stop them before a measurement."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Mapping

import psutil

from loadtests.errors import shown
from loadtests.formatting import series

WATCHED_S = 1.0
WORTH_NAMING = 0.05  # of a core
MAX_NAMED = 3


@dataclasses.dataclass(frozen=True)
class Taker:
    """A program and the share of a core that it uses."""

    name: str
    pid: int
    share: float


@dataclasses.dataclass(frozen=True)
class Takers:
    """The programs that use the cores, starting with the busiest program.

    ``brief`` is the number of cores that short-lived programs, such as a compiler, used. ``steal`` is the number of
    cores that the hypervisor used for other machines.
    """

    programs: tuple[Taker, ...] = ()
    brief: float = 0.0
    steal: float = 0.0

    @property
    def of_all_cores(self) -> float:
        """The share of all this machine's cores that is used."""
        taken = sum(one.share for one in self.programs) + self.brief + self.steal
        return taken / (psutil.cpu_count() or 1)

    @property
    def sentence(self) -> str:
        """A description of the programs for the end of a message."""
        named = [one for one in self.programs if one.share >= WORTH_NAMING][:MAX_NAMED]
        parts = [f"{shown(one.name)} (pid {one.pid}, {one.share:.0%} of a core)" for one in named]
        if self.brief >= WORTH_NAMING:
            parts.append(f"short-lived programs ({self.brief:.0%} of a core)")
        if self.steal >= WORTH_NAMING:
            parts.append(f"other machines on this hypervisor (steal, {self.steal:.0%} of a core)")
        if not parts:
            return "currently no other program uses the cores"
        return f"the cores are currently used by {series(parts)}"


@dataclasses.dataclass(frozen=True)
class CpuLook:
    """The CPU use of all processes at one moment.

    Args:
        at_s: The time of the observation in seconds, from the monotonic clock.
        cpu_s: The name and the CPU seconds of each process, by its pid and start time.
        ours: The harness's own processes.
        busy_s: The busy seconds of all cores since boot.
        steal_s: The seconds since boot in which the hypervisor used the cores for other machines.
    """

    at_s: float
    cpu_s: Mapping[tuple[int, float], tuple[str, float]]
    ours: frozenset[tuple[int, float]]
    busy_s: float
    steal_s: float


def look() -> CpuLook:
    """Return the CPU use until now. This process and all its descendants are the harness's own processes."""
    own = {os.getpid()}
    with contextlib.suppress(psutil.Error):
        own |= {child.pid for child in psutil.Process().children(recursive=True)}
    used: dict[tuple[int, float], tuple[str, float]] = {}
    ours = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error), process.oneshot():
            own_times, key = process.cpu_times(), (process.pid, process.create_time())
            used[key] = (process.name(), own_times.user + own_times.system)
            if process.pid in own:
                ours.add(key)
    times = psutil.cpu_times()
    busy = times.user + times.nice + times.system + times.irq + times.softirq
    return CpuLook(time.monotonic(), used, frozenset(ours), busy, times.steal)


def between(first: CpuLook, last: CpuLook) -> Takers:
    """Return the programs that used the cores between two moments."""
    elapsed = last.at_s - first.at_s
    ours = first.ours | last.ours
    lasting = last.cpu_s.keys() & first.cpu_s.keys()
    used = {key: last.cpu_s[key][1] - first.cpu_s[key][1] for key in lasting}
    # The harness's own processes that ended between the moments are left out, because their use isn't known.
    begun = sum(last.cpu_s[key][1] for key in last.ours - first.ours)
    brief = last.busy_s - first.busy_s - sum(used.values()) - begun
    programs = [Taker(last.cpu_s[key][0], key[0], used[key] / elapsed) for key in lasting - ours]
    return Takers(
        programs=tuple(sorted(programs, key=lambda one: one.share, reverse=True)),
        brief=max(0.0, brief / elapsed),
        steal=max(0.0, (last.steal_s - first.steal_s) / elapsed),
    )


def watch(rest: Callable[[float], None] = time.sleep) -> Takers:
    """Return the programs that currently use the cores, from two observations about a second apart."""
    first = look()
    rest(WATCHED_S)
    return between(first, look())
