"""The pools of a process: as many as POOLS says, each with its fetches counted."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from fetching.gauges import PoolGauge

# For so long a connection with nothing on it is kept, by those clients that can be told: HTTPX would keep it for five
# seconds and aiohttp for fifteen, and after a longer pause there would be a cold start in one of them.
IDLE_S = 60.0

T = TypeVar("T")


class CountedPool(Generic[T]):
    """A pool of a client's, of ``size`` connections, and how many fetches are in it, those that wait among them."""

    def __init__(self, pool: T, size: int) -> None:
        self.pool = pool
        self.size = size
        self.fetches = 0

    @property
    def full(self) -> bool:
        """Whether somebody waits for a connection."""
        return self.fetches > self.size


class Pools(Generic[T]):
    """Pools that fetches are dealt to in turn."""

    def __init__(self, pools: Sequence[T], size: int, gauge: PoolGauge) -> None:
        self.all = [CountedPool(pool, size) for pool in pools]
        self._gauge = gauge
        self._turns = itertools.cycle(self.all)

    @contextmanager
    def one(self) -> Iterator[CountedPool[T]]:
        """The pool of the next fetch, for as long as that takes."""
        counted = next(self._turns)
        self._gauge.entered(counted)
        try:
            yield counted
        finally:
            self._gauge.left(counted)
