"""Count the requests of each process, because keep-alive connections distribute them unevenly.

Each process writes two numbers to a memory-mapped file: its requests and its context switches. Under ASGI, Django
starts a thread for each request, and only the process itself can count the context switches of threads that have ended.
The numbers are updated by Django's signal `request_started`, because a middleware would add a layer to the measured
code.
"""

import resource
import threading
from pathlib import Path
from typing import Any

from django.core.signals import request_started
from fetching.gauges import Shown


class Counter:
    """Write the counts to the file ``requests-<pid>`` of a folder."""

    def __init__(self, directory: Path) -> None:
        self.shown = Shown("requests", directory)
        self.count = 0
        self.lock = threading.Lock()

    def __call__(self, **signal: Any) -> None:
        """Count a request."""
        with self.lock:  # Several threads can start requests at once.
            if self.shown.is_new():
                self.count = 0
            self.count += 1
            used = resource.getrusage(resource.RUSAGE_SELF)
            self.shown.show(self.count, used.ru_nvcsw + used.ru_nivcsw)


def install(directory: str) -> None:
    """Start to count requests, with a file for each process in this folder."""
    request_started.connect(Counter(Path(directory)), weak=False, dispatch_uid="endpoints.counting")
