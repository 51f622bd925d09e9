"""Create the pools of a process, as many as POOLS specifies, and count the fetches of each pool."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic

from fetching.gauges import CountedPool, PoolGauge, T

# The time for which clients keep an idle connection, if they have such an option. HTTPX's default is 5 s and aiohttp's
# default is 15 s, so after a pause between these times, only HTTPX would need new connections.
IDLE_S = 60.0


class Pools(Generic[T]):
    """Provide the URL to fetch, and pools that take turns. A client creates a pool in ``make_pool``."""

    def __init__(self, wanted, url: str, gauge: PoolGauge) -> None:
        self.url = url
        self.timeout_s = wanted.timeout_s
        self.all = [CountedPool(self.make_pool(wanted), wanted.pool_size) for _ in range(wanted.pools)]
        self._gauge = gauge
        self._turns = itertools.cycle(self.all)

    @contextmanager
    def one(self) -> Iterator[CountedPool[T]]:
        """Yield the pool for the next fetch, and count the fetch."""
        counted = next(self._turns)
        self._gauge.entered(counted)
        try:
            yield counted
        finally:
            self._gauge.left(counted)
