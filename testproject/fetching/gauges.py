"""Numbers that a process shows the harness, and gauges of pools: connections in use, and fetches that wait for one.

Two numbers in a file in memory, written by this process alone; the harness adds up all processes every 100 ms
(loadtests/observe/gauges.py). They are counted around the call: from its begin to its end a fetch holds a connection of
its pool or waits for one, so those above the pool's size wait. The clients' own hooks would cost a call for each event
of each request. The lock is the process's own, and held for two additions.
"""

import mmap
import os
import struct
import threading
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
NUMBERS = struct.Struct("<QQ")  # as loadtests/observe/gauges.py reads them


class CountedPool(Generic[T]):
    """A client's pool of ``size`` connections; ``fetches`` counts those that wait as well."""

    def __init__(self, pool: T, size: int) -> None:
        self.pool = pool
        self.size = size
        self.fetches = 0

    @property
    def full(self) -> bool:
        """True while a fetch waits for a connection."""
        return self.fetches > self.size


class Shown:
    """Two numbers of this process in a file ``<name>-<pid>`` of a folder; without one, in memory alone."""

    def __init__(self, name: str, folder: Path | None) -> None:
        self.name = name
        self.folder = folder
        self.pid = 0
        self.memory: mmap.mmap | bytearray = bytearray(NUMBERS.size)

    def show(self, first: int, second: int) -> None:
        """Writes them."""
        if self.pid != os.getpid():  # the first time, or in a child of a process that has written before
            self._open()
        NUMBERS.pack_into(self.memory, 0, first, second)

    def _open(self) -> None:
        self.pid = os.getpid()
        if self.folder is not None:
            with open(self.folder / f"{self.name}-{self.pid}", "w+b") as file:
                file.truncate(NUMBERS.size)
                self.memory = mmap.mmap(file.fileno(), NUMBERS.size)


class PoolGauge:
    """Counts in a file ``pool-<pid>`` of a folder; without one, in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self.in_use = 0
        self.waiting = 0
        self.lock = threading.Lock()
        self.shown = Shown("pool", folder)

    def entered(self, pool: CountedPool) -> None:
        """A fetch has begun in that pool."""
        with self.lock:
            pool.fetches += 1
            if pool.fetches > pool.size:
                self.waiting += 1
            else:
                self.in_use += 1
            self.shown.show(self.in_use, self.waiting)

    def left(self, pool: CountedPool) -> None:
        """A fetch has ended; where others wait, one of them has its connection now."""
        with self.lock:
            if pool.fetches > pool.size:
                self.waiting -= 1
            else:
                self.in_use -= 1
            pool.fetches -= 1
            self.shown.show(self.in_use, self.waiting)
