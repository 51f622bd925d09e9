"""Find the programs that use the machine's cores, so that the user can stop them before a measurement."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable

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


def watch(rest: Callable[[float], None] = time.sleep) -> Takers:
    """Return the programs that currently use the cores, from two observations about a second apart.

    This process and all its descendants are the harness's own processes, which are left out.
    """
    begun, first, before = time.monotonic(), _used_s(), psutil.cpu_times()
    rest(WATCHED_S)
    last, after = _used_s(), psutil.cpu_times()
    elapsed = time.monotonic() - begun
    own = {psutil.Process(), *psutil.Process().children(recursive=True)}
    shares = {process: (last[process] - first[process]) / elapsed for process in last.keys() & first.keys()}
    programs = []
    for process in shares.keys() - own:
        with contextlib.suppress(psutil.Error):
            programs.append(Taker(process.name(), process.pid, shares[process]))
    busy_s = sum(getattr(after, kind) - getattr(before, kind) for kind in ("user", "nice", "system", "irq", "softirq"))
    begun_s = sum(used_s for process, used_s in last.items() if process in own and process not in first)
    return Takers(
        programs=tuple(sorted(programs, key=lambda one: one.share, reverse=True)),
        brief=max(0.0, (busy_s - begun_s) / elapsed - sum(shares.values())),
        steal=max(0.0, (after.steal - before.steal) / elapsed),
    )


def _used_s() -> dict[psutil.Process, float]:
    """Return the CPU seconds of all processes."""
    used = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            used[process] = times.user + times.system
    return used
