"""Count the requests of each process, because keep-alive connections distribute them unevenly.

Each process writes two numbers to a memory-mapped file: its requests and its context switches. Under ASGI, Django
starts a thread for each request, and only the process itself can count the context switches of threads that have ended.
The numbers are updated by Django's signal `request_started`, because a middleware would add a layer to the measured
code.
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
    """Write the counts to the file ``requests-<pid>`` of a folder."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pid = 0
        self.count = 0
        self.lock = threading.Lock()

    def __call__(self, **signal: Any) -> None:
        """Count a request."""
        with self.lock:  # Several threads can start requests at once.
            if self.pid != os.getpid():  # The first request of a process, also after a fork.
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
    """Start to count requests, with a file for each process in this folder."""
    request_started.connect(Counter(Path(directory)), weak=False, dispatch_uid="endpoints.counting")
