"""Other load on a machine that is not the servers': of all but the harness, and what it started there."""

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
    """Other load since boot, as the mean of some cores: CPU seconds of programs, and of steal; pages that the machine
    swapped; and the cores' mean frequency, where known."""

    monotonic_s: float
    programs_s: float
    stolen_s: float
    swapped_pages: int
    mhz: float | None


def moment(cores: Sequence[int], own: Iterable[Part]) -> OthersMoment:
    """This moment, without our ``own`` processes, on whichever core they ran, and without interrupts, in which packets
    are received.

    It is seldom too high, and may be too low: most kernels count interrupts that come while a process runs as its time
    as well (they lack CONFIG_IRQ_TIME_ACCOUNTING), so that they are subtracted twice; a program that takes a fifth of a
    core on which we send and receive without a pause may go unnoticed.
    """
    stolen_s = conditions.stolen_s(cores)
    found = conditions.now(cores)
    programs_s = found.cores_busy_s - stolen_s - conditions.interrupts_s(cores) - sum(map(_cpu_s, own))
    return OthersMoment(
        found.monotonic_s, programs_s / len(cores), stolen_s / len(cores), found.swapped_pages, found.mhz
    )


def between(first: OthersMoment, last: OthersMoment) -> Conditions:
    """What happened in between, but for jumps of the clock."""
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
    """The CPU seconds of a part's processes and, unless it is meant alone, of all that they started, ended ones too."""
    found = 0.0
    for process in tree(part):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            found += times.user + times.system + (0.0 if part.alone else times.children_user + times.children_system)
    return found
