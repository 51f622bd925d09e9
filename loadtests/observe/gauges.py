"""What a setup's processes show of themselves while they are measured: how many connections of their pools are in use,
and how many fetches wait for one.

Each process keeps its two numbers in a file of its own in RUN_DIR (testproject/fetching/gauges.py), in memory, and
nobody waits for anybody: they are read ten times a second and added up. A trial whose processes have none is not
watched: nothing runs beside it.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from loadtests.records.trial import Shown

EVERY_S = 0.1
LOOK_EVERY = 10  # readings: for processes that have come or gone
NUMBERS = struct.Struct("<QQ")
IN_USE, WAITING = "pool in use", "pool waiting"
NAMES = (IN_USE, WAITING)
FILES = "pool-*"  # by process id

Series = dict[str, tuple[Shown, ...]]
"""By the name of a gauge: when it showed what, in seconds after the load's begin."""


class GaugeFiles:
    """The gauges of all processes that have some, in a folder."""

    def __init__(self, folder: Path, alive: Callable[[int], bool] | None = None) -> None:
        self._folder = folder
        self._alive = alive or _is_alive
        self._open: dict[str, mmap.mmap] = {}

    def look(self) -> bool:
        """Looks for processes that have come or gone; whether there are any."""
        found = {file.name: file for file in self._folder.glob(FILES) if self._alive(_pid(file.name))}
        for name in self._open.keys() - found.keys():
            self._open.pop(name).close()
        for name in found.keys() - self._open.keys():
            with contextlib.suppress(OSError, ValueError), open(found[name], "rb") as file:  # not written yet
                self._open[name] = mmap.mmap(file.fileno(), NUMBERS.size, access=mmap.ACCESS_READ)
        return bool(self._open)

    def read(self) -> tuple[int, ...]:
        """The sums over all processes, in the order of NAMES."""
        each = [NUMBERS.unpack_from(memory) for memory in self._open.values()]
        return tuple(map(sum, zip(*each, strict=True))) if each else (0,) * len(NAMES)

    def close(self) -> None:
        """Lets go of the files."""
        for memory in self._open.values():
            memory.close()
        self._open.clear()


class GaugeWatch:
    """Reads the gauges of a folder from ``begin`` to ``end``, in a thread."""

    def __init__(self, folder: Path) -> None:
        self._files = GaugeFiles(folder)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._read: list[tuple[float, tuple[int, ...]]] = []

    def begin(self) -> None:
        """From now on. Where no process has a gauge by now, nothing is read."""
        if self._thread is None and self._files.look():
            self._read.append((0.0, self._files.read()))
            self._thread = threading.Thread(target=self._watch, args=(time.monotonic(),), daemon=True)
            self._thread.start()

    def end(self, settle_s: float = 0.0) -> Series:
        """What was read, counted from ``settle_s`` after the begin; empty where there was nothing to read."""
        if self._thread is None:
            return {}
        self._over.set()
        self._thread.join()
        self._files.close()
        kept = [(round(t - settle_s, 3), values) for t, values in self._read if t >= settle_s]
        return {name: tuple((t, values[place]) for t, values in kept) for place, name in enumerate(NAMES)}

    def _watch(self, begun: float) -> None:
        readings = 1
        while not self._over.wait(max(0.0, begun + readings * EVERY_S - time.monotonic())):
            if readings % LOOK_EVERY == 0:
                self._files.look()
            self._read.append((time.monotonic() - begun, self._files.read()))
            readings += 1


def joined(slices: Sequence[Series], lasted_s: Sequence[float]) -> Series:
    """The series of several slices, of so many seconds, as one, on the time axis of what was measured. What a slice
    showed after its end, while the last answers came, is left out but for the last one's: the next begins there."""
    found: dict[str, list[Shown]] = {}
    before_s = 0.0
    for number, (series, seconds) in enumerate(zip(slices, lasted_s, strict=True), 1):
        for name, shown in series.items():
            kept = shown if number == len(slices) else [one for one in shown if one[0] < seconds]
            found.setdefault(name, []).extend((round(before_s + t, 3), value) for t, value in kept)
        before_s += seconds
    return {name: tuple(shown) for name, shown in found.items()}


def _pid(name: str) -> int:
    return int(tail) if (tail := name.rpartition("-")[2]).isdecimal() else 0


def _is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
