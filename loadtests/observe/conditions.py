"""Read the conditions on a machine during a trial from /proc (see proc(5))."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE = 4096  # the page size in bytes with which psutil converts swapped pages


@dataclasses.dataclass(frozen=True)
class Moment:
    """The state of the machine at one moment.

    ``cores_busy_s`` are the busy seconds of the servers' cores since boot, including steal. ``swapped_pages`` counts
    the pages swapped in and out since boot. ``mhz`` is the mean frequency of the servers' cores, if it is known.
    """

    monotonic_s: float
    wall_s: float
    cores_busy_s: float
    swapped_pages: int
    mhz: float | None


@dataclasses.dataclass(frozen=True)
class Conditions:
    """The changes between two moments. ``other_load`` is the share of the servers' cores that other load used."""

    elapsed_s: float
    clock_jump_s: float
    other_load: float
    swapped_pages: int
    mhz: float | None


def now(cores: Sequence[int]) -> Moment:
    """Return the machine's current state. ``cores`` are the servers' cores."""
    busy = sum(sum(ticks) - ticks[3] - ticks[4] for ticks in _ticks(cores))  # all times except idle and iowait
    swap = psutil.swap_memory()
    return Moment(time.monotonic(), time.time(), busy * TICK_S, (swap.sin + swap.sout) // PAGE, _mhz(cores))


def between(first: Moment, last: Moment, cores: Sequence[int], own_cpu_s: float) -> Conditions:
    """Return the changes between two moments. ``own_cpu_s`` are the setup's own CPU seconds on its cores."""
    elapsed = last.monotonic_s - first.monotonic_s
    others = last.cores_busy_s - first.cores_busy_s - own_cpu_s
    return Conditions(
        elapsed_s=elapsed,
        clock_jump_s=last.wall_s - first.wall_s - elapsed,
        other_load=max(0.0, others / (elapsed * len(cores))),
        swapped_pages=last.swapped_pages - first.swapped_pages,
        mhz=mean_mhz(first.mhz, last.mhz),
    )


def mean_mhz(*values: float | None) -> float | None:
    """Return the mean of the known frequencies, or None if no frequency is known."""
    known = [mhz for mhz in values if mhz is not None]
    return sum(known) / len(known) if known else None


def together(several: Sequence[Conditions]) -> Conditions:
    """Combine the conditions during several loads: sums, means weighted by duration, and the largest clock jump."""
    elapsed_s = sum(one.elapsed_s for one in several)
    known = [(one.mhz, one.elapsed_s) for one in several if one.mhz is not None]
    return Conditions(
        elapsed_s=elapsed_s,
        clock_jump_s=max((one.clock_jump_s for one in several), key=abs),
        other_load=sum(one.other_load * one.elapsed_s for one in several) / elapsed_s,
        swapped_pages=sum(one.swapped_pages for one in several),
        mhz=sum(mhz * for_s for mhz, for_s in known) / sum(for_s for _, for_s in known) if known else None,
    )


def interrupts_s(cores: Sequence[int]) -> float:
    """Return the seconds since boot that the cores spent in interrupts, such as for receiving network packets."""
    return sum(irq + softirq for *_, irq, softirq, _ in _ticks(cores)) * TICK_S


def stolen_s(cores: Sequence[int]) -> float:
    """Return the seconds since boot in which the hypervisor used the cores for other machines (steal)."""
    return sum(steal for *_, steal in _ticks(cores)) * TICK_S


def _ticks(cores: Sequence[int]) -> Iterator[list[int]]:
    """Yield the user, nice, system, idle, iowait, irq, softirq and steal times of each core, in ticks."""
    names = {f"cpu{core}" for core in cores}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name in names:
            yield list(map(int, fields[:8]))


def _mhz(cores: Sequence[int]) -> float | None:
    """Return the mean frequency that the governor reports, or None. Most virtual machines don't report a frequency."""
    found = []
    for core in cores:
        with contextlib.suppress(OSError, ValueError):
            file = Path(f"/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq")
            found.append(int(file.read_text()) / 1000)
    return mean_mhz(*found)
