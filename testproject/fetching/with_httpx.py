"""Fetch with HTTPX from threads. At each request and answer, httpcore searches its pool under a lock."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from fetching.pools import IDLE_S, Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


def options(wanted) -> dict:
    """Return the options of the sync and the async client."""
    return {
        "limits": httpx.Limits(
            max_connections=wanted.pool_size,
            # By default, HTTPX keeps 20 of 100 connections, and closes the other connections after each answer.
            max_keepalive_connections=wanted.pool_size if wanted.keep_alive else 0,
            keepalive_expiry=IDLE_S,
        ),
        # separate limits for the wait for a connection, connecting, writing, and reading
        "timeout": httpx.Timeout(wanted.timeout_s),
        "trust_env": False,  # ignore proxy variables of the environment, so that requests go only to the origin
        "follow_redirects": False,
    }


def fetched(response: httpx.Response) -> Fetched:
    """Convert a response of HTTPX to a result."""
    return Fetched(response.status_code, response.headers.get("Content-Type", ""), response.content)


@contextmanager
def converted_errors() -> Iterator[None]:
    """Convert the exceptions of HTTPX to the errors of a fetch."""
    try:
        yield
    except httpx.PoolTimeout:
        raise Exhausted from None
    except httpx.TimeoutException:
        raise NotInTime from None
    except httpx.HTTPError as error:
        raise Failed from error


class Client(Pools[httpx.Client]):
    """See fetching.clients.ThreadClient."""

    def make_pool(self, wanted) -> httpx.Client:
        return httpx.Client(**options(wanted))

    def fetch(self) -> Fetched:
        with self.one() as counted, converted_errors():
            return fetched(counted.pool.get(self.url))
