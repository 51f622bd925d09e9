"""The pools of a process: as many as POOLS says, each with its fetches counted."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic

from fetching.gauges import CountedPool, PoolGauge, T

# How long an idle connection is kept by the clients that can be configured: HTTPX's default is 5 s and aiohttp's 15 s,
# so after a longer pause one of them would start cold.
IDLE_S = 60.0


class Pools(Generic[T]):
    """What every client has: the URL to fetch, and pools that fetches are dealt to in turn. It makes one by
    ``make_pool``."""

    def __init__(self, wanted, url: str, gauge: PoolGauge) -> None:
        self.url = url
        self.timeout_s = wanted.timeout_s
        self.all = [CountedPool(self.make_pool(wanted), wanted.pool_size) for _ in range(wanted.pools)]
        self._gauge = gauge
        self._turns = itertools.cycle(self.all)

    @contextmanager
    def one(self) -> Iterator[CountedPool[T]]:
        """The pool of the next fetch, while it lasts."""
        counted = next(self._turns)
        self._gauge.entered(counted)
        try:
            yield counted
        finally:
            self._gauge.left(counted)

    def close(self) -> None:
        """Closes its connections, if it is a client for threads."""
        for counted in self.all:
            counted.pool.close()
