"""Show the number of requests that waited for a connection of Django's pool, and their total wait in milliseconds.

The psycopg pool counts these requests. After each new connection, the process writes the counts to a file. The harness
reads this file before and after a load (loadtests/observe/connections.py).
"""

import threading
from pathlib import Path

from django.db.backends.signals import connection_created
from fetching.gauges import Shown


def install(directory: str) -> None:
    """Once a pool opens its first connection, write the counts to a file ``database-pool-<pid>`` in this folder."""
    shown, lock = Shown("database-pool", Path(directory)), threading.Lock()

    def show(connection, **_) -> None:
        if (pool := getattr(connection, "pool", None)) is not None:
            with lock:  # an earlier count must not overwrite a later count
                counts = pool.get_stats()
                shown.show(counts.get("requests_queued", 0), counts.get("requests_wait_ms", 0))

    connection_created.connect(show, weak=False)
