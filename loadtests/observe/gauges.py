"""Observe the connection pools of a setup's processes during a load: connections in use, and waiting fetches.

Each process stores the numbers of used connections and waiting fetches in a memory-mapped file in RUN_DIR
(testproject/fetching/gauges.py). The files are read ten times per second, and the numbers of all processes are added. A
trial without such files isn't observed.
"""

from __future__ import annotations

import contextlib
import mmap
import struct
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from loadtests.observe.sampler import Sampler
from loadtests.records.trial import Reading

EVERY_S = 0.1
LOOK_EVERY = 10  # the number of readings between two searches for new and ended processes
NUMBERS = struct.Struct("<QQ")
IN_USE, WAITING = "pool in use", "pool waiting"
NAMES = (IN_USE, WAITING)
FILES = "pool-*"  # by process id

Series = dict[str, tuple[Reading, ...]]
"""The readings by gauge. A reading contains the seconds since the start of the load, and the gauge's value."""


class GaugeFiles:
    """The gauges of all processes in a folder, which contains a file with two numbers for each process."""

    def __init__(self, folder: Path, alive: Callable[[int], bool] = psutil.pid_exists, files: str = FILES) -> None:
        self._folder = folder
        self._files = files
        self._alive = alive
        self._open: dict[str, mmap.mmap] = {}

    def look(self) -> bool:
        """Find new and ended processes. Return whether any process has gauges."""
        found = {file.name: file for file in self._folder.glob(self._files) if self._alive(_pid(file.name))}
        for name in self._open.keys() - found.keys():
            self._open.pop(name).close()
        for name in found.keys() - self._open.keys():
            with contextlib.suppress(OSError, ValueError), open(found[name], "rb") as file:  # not written yet
                self._open[name] = mmap.mmap(file.fileno(), NUMBERS.size, access=mmap.ACCESS_READ)
        return bool(self._open)

    def read(self) -> tuple[int, ...]:
        """Return the sum of each number over all processes."""
        each = [NUMBERS.unpack_from(memory) for memory in self._open.values()]
        return tuple(map(sum, zip(*each, strict=True))) if each else (0,) * len(NAMES)

    def close(self) -> None:
        """Close the files."""
        for memory in self._open.values():
            memory.close()
        self._open.clear()


class GaugeWatch:
    """Read the gauges of a folder from ``begin`` to ``end``."""

    def __init__(self, folder: Path) -> None:
        self._files = GaugeFiles(folder)
        self._sampler = Sampler(self._sample, EVERY_S)
        self._begun = 0.0
        self._read: list[tuple[float, tuple[int, ...]]] = []

    def begin(self) -> None:
        """Start reading, if any process has gauges."""
        if self._files.look():
            self._begun = time.monotonic()
            self._read.append((0.0, self._files.read()))
            self._sampler.start()

    def end(self, settle_s: float = 0.0) -> Series:
        """Stop reading and return the readings. Time 0 is ``settle_s`` seconds after ``begin``."""
        if not self._sampler.stop():
            return {}
        self._files.close()
        kept = [(round(t - settle_s, 3), values) for t, values in self._read if t >= settle_s]
        return {name: tuple((t, values[place]) for t, values in kept) for place, name in enumerate(NAMES)}

    def _sample(self) -> None:
        if len(self._read) % LOOK_EVERY == 0:
            self._files.look()
        self._read.append((time.monotonic() - self._begun, self._files.read()))


def joined(slices: Sequence[Series], measured_s: Sequence[float]) -> Series:
    """Join the series of several slices on one time axis of measured seconds.

    Readings after the end of a slice (during the last answers) are left out, because the next slice starts at that
    time. Only the last slice keeps these readings.
    """
    found: dict[str, list[Reading]] = {}
    before_s = 0.0
    for number, (series, seconds) in enumerate(zip(slices, measured_s, strict=True), 1):
        for name, shown in series.items():
            kept = shown if number == len(slices) else [one for one in shown if one[0] < seconds]
            found.setdefault(name, []).extend((round(before_s + t, 3), value) for t, value in kept)
        before_s += seconds
    return {name: tuple(shown) for name, shown in found.items()}


def _pid(name: str) -> int:
    return int(tail) if (tail := name.rpartition("-")[2]).isdecimal() else 0
