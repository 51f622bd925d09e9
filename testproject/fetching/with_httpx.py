"""HTTPX from threads: the pool of httpcore, a list that every request and every answer goes through under a lock."""

import httpx

from fetching.pools import IDLE_S, Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


def options(wanted) -> dict:
    """The options of both of its clients."""
    return {
        "limits": httpx.Limits(
            max_connections=wanted.pool_size,
            # By default it keeps 20 of 100, and closes the others after each answer.
            max_keepalive_connections=wanted.pool_size if wanted.keep_alive else 0,
            keepalive_expiry=IDLE_S,
        ),
        "timeout": httpx.Timeout(wanted.timeout_s),  # for a connection of the pool, to connect, to write, to read
        "trust_env": False,  # no proxies of the environment: the origin is asked, and nobody else
        "follow_redirects": False,
    }


def fetched(response: httpx.Response) -> Fetched:
    """The answer as a result."""
    return Fetched(response.status_code, response.headers.get("Content-Type", ""), response.content)


class Client(Pools[httpx.Client]):
    """See fetching.clients.ThreadClient."""

    def make_pool(self, wanted) -> httpx.Client:
        return httpx.Client(**options(wanted))

    def fetch(self) -> Fetched:
        with self.one() as counted:
            try:
                return fetched(counted.pool.get(self.url))
            except httpx.PoolTimeout:
                raise Exhausted from None
            except httpx.TimeoutException:
                raise NotInTime from None
            except httpx.HTTPError as error:
                raise Failed from error
