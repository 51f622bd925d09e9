"""Fetch with urllib3. A blocking pool is a LIFO queue of connections, and raises EmptyPoolError after a timeout."""

import urllib3
from urllib3.exceptions import EmptyPoolError, HTTPError, NewConnectionError, TimeoutError

from fetching.pools import Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


class Client(Pools[urllib3.HTTPConnectionPool]):
    """See fetching.clients.ThreadClient."""

    def make_pool(self, wanted) -> urllib3.HTTPConnectionPool:
        # a pool serves one host, and only proxies need a whole URL
        self._target = urllib3.util.parse_url(self.url).request_uri
        return urllib3.connection_from_url(
            self.url,
            maxsize=wanted.pool_size,
            block=True,  # so that an exhausted pool doesn't open connections that it closes after one use
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
            except NewConnectionError as error:  # a subclass of urllib3's timeout errors
                raise Failed from error
            except TimeoutError:
                raise NotInTime from None
            except HTTPError as error:
                raise Failed from error
            return Fetched(response.status, response.headers.get("Content-Type", ""), response.data)
