"""Fetch with HTTPX from coroutines. The options are in with_httpx."""

import httpx

from fetching.pools import Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime
from fetching.with_httpx import fetched, options


class Client(Pools[httpx.AsyncClient]):
    """See fetching.clients.LoopClient."""

    def make_pool(self, wanted) -> httpx.AsyncClient:
        return httpx.AsyncClient(**options(wanted))

    async def fetch(self) -> Fetched:
        with self.one() as counted:
            try:
                return fetched(await counted.pool.get(self.url))
            except httpx.PoolTimeout:
                raise Exhausted from None
            except httpx.TimeoutException:
                raise NotInTime from None
            except httpx.HTTPError as error:
                raise Failed from error

    async def aclose(self) -> None:
        for counted in self.all:
            await counted.pool.aclose()
