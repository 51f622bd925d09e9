"""Show numbers of each process to the harness, such as the busy connections of its pools and the waiting fetches.

Each process writes two numbers to a memory-mapped file. The harness adds up all processes every 100 ms
(loadtests/observe/gauges.py).

PoolGauge counts a fetch from its start to its end. During this time, the fetch either uses a connection of its pool or
waits for a connection, so the fetches that exceed the size of the pool are waiting. The hooks of the clients would need
a call for each event of each request. All threads of the process share a lock, which protects only two additions.
"""

import mmap
import os
import struct
import threading
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
NUMBERS = struct.Struct("<QQ")  # the format that loadtests/observe/gauges.py reads


class CountedPool(Generic[T]):
    """A client's pool of ``size`` connections. ``fetches`` also counts the waiting fetches."""

    def __init__(self, pool: T, size: int) -> None:
        self.pool = pool
        self.size = size
        self.fetches = 0

    @property
    def full(self) -> bool:
        """Whether a fetch waits for a connection."""
        return self.fetches > self.size


class Shown:
    """Show two numbers in the file ``<name>-<pid>`` of a folder. Without a folder, keep the numbers only in memory."""

    def __init__(self, name: str, folder: Path | None) -> None:
        self.name = name
        self.folder = folder
        self.pid = 0
        self.memory: mmap.mmap | bytearray = bytearray(NUMBERS.size)

    def is_new(self) -> bool:
        """Return whether this process hasn't written any numbers, because it is new or has just forked."""
        return self.pid != os.getpid()

    def show(self, first: int, second: int) -> None:
        """Write the numbers."""
        if self.is_new():
            self._open()
        NUMBERS.pack_into(self.memory, 0, first, second)

    def _open(self) -> None:
        self.pid = os.getpid()
        if self.folder is not None:
            with open(self.folder / f"{self.name}-{self.pid}", "w+b") as file:
                file.truncate(NUMBERS.size)
                self.memory = mmap.mmap(file.fileno(), NUMBERS.size)


class PoolGauge:
    """Count busy connections and waiting fetches in the file ``pool-<pid>`` of a folder, or only in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.in_use = 0
        self.waiting = 0
        self.lock = threading.Lock()
        self.shown = Shown("pool", folder)

    def entered(self, pool: CountedPool) -> None:
        """Count the start of a fetch in this pool."""
        with self.lock:
            pool.fetches += 1
            if pool.fetches > pool.size:
                self.waiting += 1
            else:
                self.in_use += 1
            self.shown.show(self.in_use, self.waiting)

    def left(self, pool: CountedPool) -> None:
        """Count the end of a fetch. If other fetches wait, one of these fetches now gets the connection."""
        with self.lock:
            if pool.fetches > pool.size:
                self.waiting -= 1
            else:
                self.in_use -= 1
            pool.fetches -= 1
            self.shown.show(self.in_use, self.waiting)
