"""How often requests waited for a connection of Django's pool, and for how many milliseconds in all.

The pool of psycopg counts that itself. Whoever has taken a connection from it shows its counts in a file of the
process, which the harness reads before and after a load (loadtests/observe/connections.py).
"""

import threading
from pathlib import Path

from django.db.backends.signals import connection_created
from fetching.gauges import Shown


def install(directory: str) -> None:
    """Shows the counts in a file ``database-pool-<pid>`` of the directory, from the first connection of a pool on."""
    shown, lock = Shown("database-pool", Path(directory)), threading.Lock()

    def show(connection, **_) -> None:
        if (pool := getattr(connection, "pool", None)) is not None:
            with lock:  # a later count is not overwritten by an earlier one
                counts = pool.get_stats()
                shown.show(counts.get("requests_queued", 0), counts.get("requests_wait_ms", 0))

    connection_created.connect(show, weak=False)
