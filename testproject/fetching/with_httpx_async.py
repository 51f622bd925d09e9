"""Fetch with HTTPX from coroutines. The options are in with_httpx."""

import httpx

from fetching.pools import Pools
from fetching.results import Fetched
from fetching.with_httpx import converted_errors, fetched, options


class Client(Pools[httpx.AsyncClient]):
    """See fetching.clients.LoopClient."""

    def make_pool(self, wanted) -> httpx.AsyncClient:
        return httpx.AsyncClient(**options(wanted))

    async def fetch(self) -> Fetched:
        with self.one() as counted, converted_errors():
            return fetched(await counted.pool.get(self.url))

    async def aclose(self) -> None:
        for counted in self.all:
            await counted.pool.aclose()
