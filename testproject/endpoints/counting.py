"""How many requests each process has handled, for whoever measures: keep-alive spreads them unevenly.

Two numbers in a file in memory that this process alone writes: requests, and context switches, which only the process
itself knows of threads that have ended (under ASGI Django starts one for each request). They are taken at Django's own
signal, not in a middleware, which would add a layer to what is measured.
"""

import mmap
import os
import resource
import struct
import threading
from pathlib import Path
from typing import Any

from django.core.signals import request_started

_NUMBERS = struct.Struct("<QQ")


class Counter:
    """Counts in a file ``requests-<pid>`` of a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pid = 0
        self.count = 0
        self.lock = threading.Lock()

    def __call__(self, **signal: Any) -> None:
        """A request has begun."""
        with self.lock:  # requests begin in several threads at a time
            if self.pid != os.getpid():  # the first, or a child of a process that counted before
                self._open()
            self.count += 1
            used = resource.getrusage(resource.RUSAGE_SELF)
            _NUMBERS.pack_into(self.memory, 0, self.count, used.ru_nvcsw + used.ru_nivcsw)

    def _open(self) -> None:
        self.pid, self.count = os.getpid(), 0
        with open(self.directory / f"requests-{self.pid}", "w+b") as file:
            file.truncate(_NUMBERS.size)
            self.memory = mmap.mmap(file.fileno(), _NUMBERS.size)


def install(directory: str) -> None:
    """Counts from now on, in that directory."""
    request_started.connect(Counter(Path(directory)), weak=False, dispatch_uid="endpoints.counting")
