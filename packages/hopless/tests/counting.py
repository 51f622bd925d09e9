"""Count the hops to threads and the started threads while a request is served.

The counts are exact, because they don't depend on times.
"""

import contextlib
import threading
from dataclasses import dataclass
from unittest import mock

from asgiref.sync import SyncToAsync


@dataclass
class Counts:
    hops: int = 0
    threads: int = 0


@contextlib.contextmanager
def counted():
    counts = Counts()
    call, start = SyncToAsync.__call__, threading.Thread.start

    async def hop(self, *args, **kwargs):
        counts.hops += 1
        return await call(self, *args, **kwargs)

    def begin(self):
        counts.threads += 1
        start(self)

    with mock.patch.object(SyncToAsync, "__call__", hop), mock.patch.object(threading.Thread, "start", begin):
        yield counts
