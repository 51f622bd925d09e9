"""Fetch with requests, over a pool in which fetches wait for a connection until a timeout.

By default, requests doesn't let urllib3's pool block. With ``pool_block``, fetches would wait without a limit, because
requests has no option for the timeout. For this reason, a subclass of the pool passes the timeout to urllib3.
"""

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool
from urllib3.exceptions import EmptyPoolError

from fetching.pools import Pools
from fetching.results import Exhausted, Failed, Fetched, NotInTime


class Client(Pools[requests.Session]):
    """See fetching.clients.ThreadClient."""

    def make_pool(self, wanted) -> requests.Session:
        session = requests.Session()
        session.trust_env = False  # ignore proxy variables of the environment, so that requests go only to the origin
        session.mount("http://", _Adapter(wanted))
        if not wanted.keep_alive:
            session.headers["Connection"] = "close"
        return session

    def fetch(self) -> Fetched:
        with self.one() as counted:
            try:
                response = counted.pool.get(self.url, timeout=self.timeout_s, allow_redirects=False)
            except EmptyPoolError:  # requests doesn't wrap this exception of urllib3
                raise Exhausted from None
            except requests.Timeout:
                raise NotInTime from None
            except requests.RequestException as error:
                raise Failed from error
            return Fetched(response.status_code, response.headers.get("Content-Type", ""), response.content)


class _Adapter(HTTPAdapter):
    """Use pools that wait for a connection for at most FETCH_TIMEOUT."""

    def __init__(self, wanted) -> None:
        self._pool_timeout_s = wanted.timeout_s
        super().__init__(pool_connections=1, pool_maxsize=wanted.pool_size, pool_block=True)

    def init_poolmanager(self, *arguments, **options) -> None:
        super().init_poolmanager(*arguments, **options)
        timeout_s = self._pool_timeout_s

        class Waiting(HTTPConnectionPool):
            def urlopen(self, *arguments, **options):
                return super().urlopen(*arguments, **{"pool_timeout": timeout_s, **options})

        self.poolmanager.pool_classes_by_scheme = {"http": Waiting}
