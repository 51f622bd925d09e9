"""Measure the cost of a setup's processes.

CPU seconds are read from the processes' own clocks. Memory and context switches are read from /proc (see proc(5)).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from loadtests.records import Process

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
# The number of decimals of CPU times in seconds. Milliseconds are too coarse, because 2,000 messages at 20 µs need only
# 40 ms.
DIGITS = 6
CPUCLOCK_SCHED = 2  # The clock id of a process's CPU time in nanoseconds (the kernel's posix-timers.h).


@dataclasses.dataclass(frozen=True)
class Usage:
    """The resources that a process uses: CPU seconds and context switches since its start, and memory in MB.

    The number of context switches is None if it isn't known.
    """

    role: str
    name: str
    pid: int
    cpu_s: float
    rss_mb: float
    peak_rss_mb: float
    context_switches: int | None
    requests: int | None = None
    charged: bool = True


@dataclasses.dataclass(frozen=True)
class Part:
    """The first process of a process tree that was started for a setup or a supporting service.

    Args:
        role: The role of the process, such as web, worker or redis.
        pid: The process id.
        charged: Whether its cost counts towards the setup's cost.
        alone: Whether to exclude its descendants.
        elsewhere: Whether it uses none of the servers' cores.
        as_one: Whether the whole tree counts as one process, because its processes start and end during the load.
    """

    role: str
    pid: int
    charged: bool = True
    alone: bool = False
    elsewhere: bool = False
    as_one: bool = False


def tree(part: Part) -> list[psutil.Process]:
    """Return a part's process with its descendants (unless ``alone`` is set), or an empty list if it has ended."""
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(part.pid)
        return [root, *([] if part.alone else root.children(recursive=True))]
    return []


def snapshot(parts: Iterable[Part], folder: Path | None = None) -> dict[int, Usage]:
    """Return the usage of the parts' processes by pid. Processes that end during the call are left out.

    Args:
        parts: The parts of the setup and of its services.
        folder: The setup's RUN_DIR, in which processes count their requests (testproject/endpoints/counting.py).
    """
    found = {}
    for part in parts:
        usages = [_usage(part, process.pid, folder) for process in tree(part)]
        known = [usage for usage in usages if usage is not None]
        found.update({usage.pid: usage for usage in ([_summed(known)] if part.as_one and known else known)})
    return found


def _summed(usages: Sequence[Usage]) -> Usage:
    """Add the usage of a process and its descendants, including the CPU time of ended descendants.

    The number of context switches isn't known, because it can't be read after a process has ended.
    """
    ended_s = 0.0
    for usage in usages:
        with contextlib.suppress(OSError):
            stat = (Path("/proc") / str(usage.pid) / "stat").read_text().rpartition(")")[2].split()
            ended_s += (int(stat[13]) + int(stat[14])) * TICK_S
    return dataclasses.replace(
        usages[0],
        cpu_s=sum(one.cpu_s for one in usages) + ended_s,
        rss_mb=sum(one.rss_mb for one in usages),
        peak_rss_mb=sum(one.peak_rss_mb for one in usages),
        context_switches=None,
    )


def cpu_s(pids: Iterable[int]) -> dict[int, float]:
    """Return the CPU seconds of processes by pid, from their own clocks.

    Processes without a readable clock are left out.
    """
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            found[pid] = _clock_s(pid)
    return found


def difference(before: dict[int, Usage], after: dict[int, Usage]) -> tuple[Process, ...]:
    """Return each process's usage between two snapshots: CPU seconds, context switches, and the memory at the end.

    A process that started between the snapshots counts from its start. An ended process is missing, and its end makes
    the trial invalid.
    """
    rows = []
    for pid, usage in after.items():
        first = before.get(pid)
        earlier_requests = (first.requests or 0) if first else 0
        rows.append(
            Process(
                role=usage.role,
                name=usage.name,
                pid=pid,
                cpu_s=round(usage.cpu_s - (first.cpu_s if first else 0.0), DIGITS),
                peak_rss_mb=round(usage.peak_rss_mb, 2),
                rss_mb=round(usage.rss_mb, 2),
                context_switches=_more(usage.context_switches, first.context_switches if first else 0),
                requests=_more(usage.requests, earlier_requests),
                charged=usage.charged,
            )
        )
    return tuple(rows)


def _more(after: int | None, before: int | None) -> int | None:
    """Return the difference of two counts. It isn't known if the count fell, because threads have ended."""
    return None if after is None or before is None or after < before else after - before


def together(loads: Iterable[Iterable[Process]]) -> tuple[Process, ...]:
    """Combine each process's usage in several loads.

    The result contains the sums of CPU seconds, switches and requests, and the memory at the end.
    """
    found: dict[int, Process] = {}
    for rows in loads:
        for row in rows:
            if (before := found.get(row.pid)) is not None:
                row = dataclasses.replace(
                    row,
                    cpu_s=round(before.cpu_s + row.cpu_s, DIGITS),
                    context_switches=_sum(before.context_switches, row.context_switches),
                    requests=_sum(before.requests or 0, row.requests),
                )
            found[row.pid] = row
    return tuple(found.values())


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def since_rest(
    rows: Iterable[Process], at_rest: Mapping[int, Usage], steps: Sequence[Mapping[int, Usage]]
) -> tuple[Process, ...]:
    """Return the rows with each process's memory at rest and after each of the ``steps``."""

    def rss_mb(usage: Mapping[int, Usage], pid: int) -> float:
        return round(usage[pid].rss_mb, 2) if pid in usage else 0.0

    return tuple(
        dataclasses.replace(
            row,
            idle_rss_mb=rss_mb(at_rest, row.pid),
            step_rss_mb=tuple(rss_mb(step, row.pid) for step in steps),
        )
        for row in rows
    )


def _usage(part: Part, pid: int, counts: Path | None) -> Usage | None:
    folder = Path("/proc") / str(pid)
    try:
        # The second field is the name in parentheses and can contain spaces. utime and stime are fields 14 and 15.
        stat = (folder / "stat").read_text().rpartition(")")[2].split()
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        switches = sum(_switches(task) for task in (folder / "task").iterdir())
    except OSError:
        return None
    if "VmRSS" not in status:  # a zombie
        return None
    requests, counted_switches = _counted(counts, pid)
    head, _, number = part.role.rpartition("_")  # worker_1 has the role worker, because supervisor numbers processes
    try:
        used_s = _clock_s(pid)
    # The process has ended, or the sandbox has no CPU clock for processes. Ticks of 10 ms are only a fallback,
    # because they are too coarse for short slices.
    except OSError:
        used_s = (int(stat[11]) + int(stat[12])) * TICK_S
    return Usage(
        role=head if head and number.isdigit() else part.role,
        name=status["Name"].strip(),
        pid=pid,
        cpu_s=used_s,
        rss_mb=int(status["VmRSS"].split()[0]) / 1024,
        peak_rss_mb=int(status["VmHWM"].split()[0]) / 1024,
        # /proc doesn't contain the switches of ended threads.
        context_switches=switches if counted_switches is None else counted_switches,
        requests=requests,
        charged=part.charged,
    )


def _counted(folder: Path | None, pid: int) -> tuple[int, int] | tuple[None, None]:
    """Return the requests and context switches that a process has counted, or None if it doesn't count them."""
    if folder is None:
        return None, None
    try:
        requests, switches = struct.unpack("<QQ", (folder / f"requests-{pid}").read_bytes())
    except (OSError, struct.error):
        return None, None
    return requests, switches


def _clock_s(pid: int) -> float:
    """Return a process's CPU seconds with a resolution of nanoseconds, including ended threads but not children.

    See clock_getcpuclockid(3).
    """
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED) / 1e9


def _switches(task: Path) -> int:
    with contextlib.suppress(OSError):
        lines = (task / "status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return 0
