"""HTTPX from coroutines; with_httpx has its options."""

import httpx

from fetching.gauges import PoolGauge
from fetching.pools import Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime
from fetching.with_httpx import fetched, options


class Client:
    """See fetching.clients.LoopClient."""

    def __init__(self, wanted, url: str, gauge: PoolGauge) -> None:
        self._url = url
        pools = [httpx.AsyncClient(**options(wanted)) for _ in range(wanted.pools)]
        self._pools = Pools(pools, wanted.pool_size, gauge)

    async def fetch(self) -> Fetched:
        with self._pools.one() as counted:
            try:
                return fetched(await counted.pool.get(self._url))
            except httpx.PoolTimeout:
                raise Exhausted from None
            except httpx.TimeoutException:
                raise NotInTime from None
            except httpx.HTTPError as error:
                raise Failed from error

    async def aclose(self) -> None:
        for counted in self._pools.all:
            await counted.pool.aclose()
