"""Measure the load of programs other than the servers, the harness and its child processes."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Sequence

import psutil

from loadtests.observe import conditions
from loadtests.observe.conditions import Conditions
from loadtests.observe.processes import Part, tree


@dataclasses.dataclass(frozen=True)
class OthersMoment:
    """The other load on some cores since boot: CPU seconds of programs and steal, both as means per core.

    The object also contains the machine's swapped pages and the frequency of the cores.
    """

    monotonic_s: float
    programs_s: float
    stolen_s: float
    swapped_pages: int
    mhz: float | None


def moment(cores: Sequence[int], own: Iterable[Part]) -> OthersMoment:
    """Return the other load since boot, without interrupts and without the harness's ``own`` processes on any core.

    The result is rarely too high, but may be too low. Most kernels (without CONFIG_IRQ_TIME_ACCOUNTING) add the time of
    an interrupt to the interrupted process, so this time is subtracted twice. On a core that sends and receives without
    a pause, a program that uses a fifth of the core may not be noticed.
    """
    stolen_s = conditions.stolen_s(cores)
    found = conditions.now(cores)
    programs_s = found.cores_busy_s - stolen_s - conditions.interrupts_s(cores) - sum(map(_cpu_s, own))
    return OthersMoment(
        found.monotonic_s, programs_s / len(cores), stolen_s / len(cores), found.swapped_pages, found.mhz
    )


def between(first: OthersMoment, last: OthersMoment) -> Conditions:
    """Return the changes between two moments. Clock jumps aren't detected."""
    elapsed_s = last.monotonic_s - first.monotonic_s
    programs_s = max(0.0, last.programs_s - first.programs_s)
    return Conditions(
        elapsed_s=elapsed_s,
        clock_jump_s=0.0,
        other_load=(programs_s + last.stolen_s - first.stolen_s) / elapsed_s,
        swapped_pages=last.swapped_pages - first.swapped_pages,
        mhz=conditions.mean_mhz(first.mhz, last.mhz),
    )


def _cpu_s(part: Part) -> float:
    """Return the CPU seconds of a part's processes.

    Unless the part's ``alone`` is set, descendants are included, even if they have ended.
    """
    found = 0.0
    for process in tree(part):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            found += times.user + times.system + (0.0 if part.alone else times.children_user + times.children_system)
    return found
