"""What others do on a machine that is not the servers': all but the harness, and what it started there."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterable, Sequence

import psutil

from loadtests.observe import conditions
from loadtests.observe.conditions import Conditions
from loadtests.observe.processes import Part


@dataclasses.dataclass(frozen=True)
class OthersMoment:
    """What they have done by a moment, since boot, on the average of the cores that are looked at: CPU seconds of other
    programs, and seconds that were stolen; pages that the machine swapped; and the cores' mean frequency, where known.
    """

    monotonic_s: float
    programs_s: float
    stolen_s: float
    swapped_pages: int
    mhz: float | None


def moment(cores: Sequence[int], own: Iterable[Part]) -> OthersMoment:
    """This moment; what these processes of ours did is none of it, wherever they did it, nor are interrupts, in which
    packets are received.

    It is seldom too much, and may be too little: most kernels count the interrupts that come while a process runs as
    its time as well (they lack CONFIG_IRQ_TIME_ACCOUNTING), so that they are taken off twice; a program that takes a
    fifth of a core on which we send and receive without a pause may go unseen.
    """
    stolen_s = conditions.stolen_s(cores)
    seen = conditions.now(cores)
    programs_s = seen.cores_busy_s - stolen_s - conditions.interrupts_s(cores) - sum(map(_cpu_s, own))
    return OthersMoment(time.monotonic(), programs_s / len(cores), stolen_s / len(cores), seen.swapped_pages, seen.mhz)


def between(first: OthersMoment, last: OthersMoment) -> Conditions:
    """What they did in between. Whether the clock jumped is not looked at."""
    elapsed_s = last.monotonic_s - first.monotonic_s
    programs_s = max(0.0, last.programs_s - first.programs_s)
    known = [mhz for mhz in (first.mhz, last.mhz) if mhz is not None]
    return Conditions(
        elapsed_s=elapsed_s,
        clock_jump_s=0.0,
        others_cpu=(programs_s + last.stolen_s - first.stolen_s) / elapsed_s,
        swapped_pages=last.swapped_pages - first.swapped_pages,
        mhz=sum(known) / len(known) if known else None,
    )


def _cpu_s(part: Part) -> float:
    """What a process and all its descendants have taken, those that ended among them; without them where it is meant
    alone."""
    found = 0.0
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(part.pid)
        for process in [root, *([] if part.alone else root.children(recursive=True))]:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                ended = 0.0 if part.alone else times.children_user + times.children_system
                found += times.user + times.system + ended
    return found
