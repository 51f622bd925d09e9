"""Fetch with aiohttp, whose connector has a queue for the fetches that wait for a connection."""

import math

import aiohttp

from fetching.pools import IDLE_S, Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


class Client(Pools[aiohttp.ClientSession]):
    """See fetching.clients.LoopClient."""

    def make_pool(self, wanted) -> aiohttp.ClientSession:
        how = {"keepalive_timeout": IDLE_S} if wanted.keep_alive else {"force_close": True}
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=wanted.pool_size, **how),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=wanted.timeout_s,  # limits the wait for a connection of the pool, and connecting
                sock_connect=wanted.timeout_s,
                sock_read=wanted.timeout_s,
                # by default, aiohttp rounds times of more than 5 s up to a whole second of the loop's clock
                ceil_threshold=math.inf,
            ),
        )

    async def fetch(self) -> Fetched:
        with self.one() as counted:
            try:
                async with counted.pool.get(self.url, allow_redirects=False) as response:
                    return Fetched(response.status, response.headers.get("Content-Type", ""), await response.read())
            except aiohttp.ConnectionTimeoutError:
                # aiohttp raises this for an exhausted pool and for an origin that doesn't accept connections.
                raise (Exhausted if counted.full else NotInTime) from None
            except TimeoutError:
                raise NotInTime from None
            except aiohttp.ClientError as error:
                raise Failed from error

    async def aclose(self) -> None:
        for counted in self.all:
            await counted.pool.close()
