"""What the processes of a setup cost: CPU seconds, by their own clocks, and memory and context switches, from /proc
(proc(5))."""

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
# Of a CPU time, so that what is kept is as fine as the clock: of 2,000 messages at 20 µs a millisecond is a fortieth.
DIGITS = 6
CPUCLOCK_SCHED = 2  # the clock of a process that counts nanoseconds, in its clock id (the kernel's posix-timers.h)


@dataclasses.dataclass(frozen=True)
class Usage:
    """One process at one moment: CPU seconds since its start, memory in MB, context switches since its start."""

    role: str
    name: str
    pid: int
    cpu_s: float
    rss_mb: float
    peak_rss_mb: float
    context_switches: int
    requests: int | None = None
    charged: bool = True


@dataclasses.dataclass(frozen=True)
class Part:
    """A process that was started for a setup or beside it, the first of its tree; whether the setup pays for it. One
    that is meant ``alone`` is without what descends from it; one ``elsewhere`` takes nothing of the servers' cores."""

    role: str
    pid: int
    charged: bool = True
    alone: bool = False
    elsewhere: bool = False


def snapshot(parts: Iterable[Part], folder: Path | None = None) -> dict[int, Usage]:
    """The usage of each part and, unless it is meant alone, of all its descendants, by pid.

    ``folder`` is the setup's RUN_DIR, where its processes count their requests (testproject/endpoints/counting.py). A
    process that ends while it is read is left out.
    """
    found: dict[int, Usage] = {}
    for part in parts:
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(part.pid)
            for process in [root, *([] if part.alone else root.children(recursive=True))]:
                usage = _usage(part, process.pid, folder)
                if usage is not None:
                    found[process.pid] = usage
    return found


def cpu_s(pids: Iterable[int]) -> dict[int, float]:
    """The CPU seconds of processes so far, by pid, by their own clocks; one that has ended, or whose clock cannot be
    asked, is left out."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            found[pid] = _clock_s(pid)
    return found


def difference(before: dict[int, Usage], after: dict[int, Usage]) -> tuple[Process, ...]:
    """What each process used in between, as a trial keeps it: CPU and switches as differences, memory as it ended.

    A process that was started in between counts from its start; one that ended cannot be counted and is missing
    (that it died makes the trial invalid).
    """
    rows = []
    for pid, usage in after.items():
        first = before.get(pid)
        rows.append(
            Process(
                role=usage.role,
                name=usage.name,
                pid=pid,
                cpu_s=round(usage.cpu_s - (first.cpu_s if first else 0.0), DIGITS),
                peak_rss_mb=round(usage.peak_rss_mb, 2),
                rss_mb=round(usage.rss_mb, 2),
                context_switches=usage.context_switches - (first.context_switches if first else 0),
                requests=_requests(usage, first),
                charged=usage.charged,
            )
        )
    return tuple(rows)


def together(stretches: Iterable[Iterable[Process]]) -> tuple[Process, ...]:
    """What each process used in several stretches of time: CPU, switches and requests as sums, memory as it ended."""
    found: dict[int, Process] = {}
    for stretch in stretches:
        for row in stretch:
            if (before := found.get(row.pid)) is not None:
                row = dataclasses.replace(
                    row,
                    cpu_s=round(before.cpu_s + row.cpu_s, DIGITS),
                    context_switches=before.context_switches + row.context_switches,
                    requests=None if row.requests is None else (before.requests or 0) + row.requests,
                )
            found[row.pid] = row
    return tuple(found.values())


def since_rest(
    rows: Iterable[Process], rested: Mapping[int, Usage], steps: Sequence[Mapping[int, Usage]]
) -> tuple[Process, ...]:
    """The rows with the memory that each process had at rest, when ``rested`` was seen, and in each of the ``steps``
    after it."""
    return tuple(
        dataclasses.replace(
            row,
            rested_rss_mb=_rss_mb(rested, row.pid),
            stepped_rss_mb=tuple(_rss_mb(step, row.pid) for step in steps),
        )
        for row in rows
    )


def _rss_mb(seen: Mapping[int, Usage], pid: int) -> float:
    return round(seen[pid].rss_mb, 2) if pid in seen else 0.0


def _kind(role: str) -> str:
    """worker_1 is of the role worker: supervisor numbers the processes of one program."""
    head, _, tail = role.rpartition("_")
    return head if head and tail.isdigit() else role


def _requests(usage: Usage, first: Usage | None) -> int | None:
    if usage.requests is None:
        return None
    return usage.requests - ((first.requests or 0) if first else 0)


def _counted(folder: Path | None, pid: int) -> tuple[int, int] | None:
    """The requests and context switches that a process has counted; None for one that counts none, as Redis."""
    if folder is None:
        return None
    try:
        requests, switches = struct.unpack("<QQ", (folder / f"requests-{pid}").read_bytes())
    except (OSError, struct.error):
        return None
    return requests, switches


def _usage(part: Part, pid: int, counts: Path | None) -> Usage | None:
    folder = Path("/proc") / str(pid)
    try:
        # The second field is the name in parentheses and may hold spaces; utime and stime are fields 14 and 15.
        stat = (folder / "stat").read_text().rpartition(")")[2].split()
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        switches = sum(_switches(task) for task in (folder / "task").iterdir())
    except OSError:
        return None
    if "VmRSS" not in status:  # a zombie
        return None
    counted = _counted(counts, pid)
    return Usage(
        role=_kind(part.role),
        name=status["Name"].strip(),
        pid=pid,
        cpu_s=_cpu_s(pid, (int(stat[11]) + int(stat[12])) * TICK_S),
        rss_mb=_kilobytes(status["VmRSS"]) / 1024,
        peak_rss_mb=_kilobytes(status["VmHWM"]) / 1024,
        # Those of threads that have ended are missing in /proc.
        context_switches=counted[1] if counted else switches,
        requests=counted[0] if counted else None,
        charged=part.charged,
    )


def _cpu_s(pid: int, ticks_s: float) -> float:
    """The CPU seconds of a process, threads that ended among them and children not, to the nanosecond by its own clock
    (clock_getcpuclockid(3)); ``ticks_s``, what /proc says of it, where that cannot be asked.

    /proc counts in ticks of 10 ms and cuts user and system time off apart: of a process that is asked by turns for half
    a second, what it took in each would be a few ticks."""
    try:
        return _clock_s(pid)
    except OSError:  # it has ended, or a sandbox has no such clock
        return ticks_s


def _clock_s(pid: int) -> float:
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED) / 1e9


def _switches(task: Path) -> int:
    with contextlib.suppress(OSError):
        lines = (task / "status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return 0


def _kilobytes(value: str) -> int:
    return int(value.split()[0])
