"""How many connections of the pools are in use and how many fetches wait for one, for whoever measures.

Two numbers in a file in memory that this process alone writes; the harness adds up those of all processes every 100 ms
(loadtests/observe/gauges.py). They are counted around the call: a fetch holds a connection of its pool or waits for one
from its begin to its end, so those above the pool's size are the ones that wait. The clients' own hooks (the traces of
HTTPX and aiohttp) would tell the same at the price of a call for each event of each request, which would be measured.

The lock is held for the time of two additions and never while anything waits. It is the process's own, so processes do
not wait for each other.
"""

import mmap
import os
import struct
import threading
from pathlib import Path
from typing import Protocol

NUMBERS = struct.Struct("<QQ")  # as loadtests/observe/gauges.py reads them: in use, waiting


class Counted(Protocol):
    """A pool of ``size`` connections, and how many fetches are in it, those that wait among them."""

    size: int
    fetches: int


class PoolGauge:
    """Counts in a file ``pool-<pid>`` of a folder; without one, in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.pid = 0
        self.in_use = 0
        self.waiting = 0
        self.lock = threading.Lock()
        self.memory: mmap.mmap | bytearray = bytearray(NUMBERS.size)

    def entered(self, pool: Counted) -> None:
        """A fetch has begun in that pool."""
        with self.lock:
            if self.pid != os.getpid():  # the first one, or in a child of a process that has fetched before
                self._open()
            pool.fetches += 1
            if pool.fetches > pool.size:
                self.waiting += 1
            else:
                self.in_use += 1
            NUMBERS.pack_into(self.memory, 0, self.in_use, self.waiting)

    def left(self, pool: Counted) -> None:
        """It has ended; where others wait in the pool, one of them has its connection now."""
        with self.lock:
            if pool.fetches > pool.size:
                self.waiting -= 1
            else:
                self.in_use -= 1
            pool.fetches -= 1
            NUMBERS.pack_into(self.memory, 0, self.in_use, self.waiting)

    def _open(self) -> None:
        self.pid = os.getpid()
        if self.folder is not None:
            with open(self.folder / f"pool-{self.pid}", "w+b") as file:
                file.truncate(NUMBERS.size)
                self.memory = mmap.mmap(file.fileno(), NUMBERS.size)
