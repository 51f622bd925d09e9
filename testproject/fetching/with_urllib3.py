"""urllib3: a pool that blocks is a LIFO queue of connections, which hands out one or raises EmptyPoolError in time."""

import urllib3
from urllib3.exceptions import EmptyPoolError, HTTPError, NewConnectionError, TimeoutError

from fetching.pools import Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


class Client(Pools[urllib3.HTTPConnectionPool]):
    """See fetching.clients.ThreadClient."""

    def make_pool(self, wanted) -> urllib3.HTTPConnectionPool:
        self._target = urllib3.util.parse_url(self.url).request_uri  # a pool is of one host; a whole URL is for proxies
        return urllib3.connection_from_url(
            self.url,
            maxsize=wanted.pool_size,
            block=True,  # else a pool that is exhausted opens more, and throws them away after one use
            timeout=urllib3.Timeout(connect=wanted.timeout_s, read=wanted.timeout_s),
            retries=False,
            headers={} if wanted.keep_alive else {"Connection": "close"},
        )

    def fetch(self) -> Fetched:
        with self.one() as counted:
            try:
                response = counted.pool.request("GET", self._target, redirect=False, pool_timeout=self.timeout_s)
            except EmptyPoolError:
                raise Exhausted from None
            except NewConnectionError as error:  # which urllib3 has for a kind of time-out
                raise Failed from error
            except TimeoutError:
                raise NotInTime from None
            except HTTPError as error:
                raise Failed from error
            return Fetched(response.status, response.headers.get("Content-Type", ""), response.data)
