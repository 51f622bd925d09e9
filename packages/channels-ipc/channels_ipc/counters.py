"""Provide counters in memory that all processes share. Reading a counter costs less than a transaction."""

import mmap
import os
from typing import Final

_COUNTER_BYTES = 8
COUNTERS_BYTES = 3 * _COUNTER_BYTES
_ORDER: Final = "little"


class Counter:
    """A number at `position` in a file. Only the process that holds the store's lock may change the number."""

    def __init__(self, memory: mmap.mmap, position: int) -> None:
        self._memory = memory
        self._bytes = slice(position, position + _COUNTER_BYTES)

    def read(self) -> bytes:
        """Return the number as bytes, which can be compared with an earlier value."""
        return self._memory[self._bytes]

    def increase(self) -> None:
        number = int.from_bytes(self.read(), _ORDER) + 1
        self._memory[self._bytes] = number.to_bytes(_COUNTER_BYTES, _ORDER)


class Counters:
    """The file at `path`, which counts flushes, transactions that sent messages, and changes to groups."""

    def __init__(self, path: str) -> None:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._memory = mmap.mmap(file, COUNTERS_BYTES)
        finally:
            os.close(file)
        self.flushes = Counter(self._memory, 0)
        self.sent = Counter(self._memory, _COUNTER_BYTES)
        self.memberships = Counter(self._memory, 2 * _COUNTER_BYTES)

    def close(self) -> None:
        self._memory.close()
