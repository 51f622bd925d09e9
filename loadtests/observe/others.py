"""What others take of a machine that is not the servers': all but what the harness, and what it started, does there."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Sequence

import psutil

from loadtests.observe import conditions
from loadtests.observe.conditions import Moment
from loadtests.observe.processes import Part


def moment(cores: Sequence[int], own: Iterable[Part]) -> Moment:
    """The machine at this moment, whose ``cores_busy_s`` is what others than these processes took of a core so far, on
    the average of these cores. Interrupts, in which packets are received, are nobody's; what processes of ours do on
    other cores is taken off all the same, for it is little."""
    seen = conditions.now(cores)
    others_s = seen.cores_busy_s - conditions.interrupts_s(cores) - sum(map(_cpu_s, own))
    return dataclasses.replace(seen, cores_busy_s=others_s / len(cores))


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
