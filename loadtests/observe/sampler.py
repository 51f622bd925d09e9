"""Call a function at a fixed interval in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Sampler:
    """Call ``sample`` every ``every_s`` seconds from ``start`` until ``stop``."""

    def __init__(self, sample: Callable[[], None], every_s: float) -> None:
        self._sample = sample
        self._every_s = every_s
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, args=(time.monotonic(),), daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """Stop sampling, and return whether the sampler was running."""
        if self._thread is None:
            return False
        self._over.set()
        self._thread.join()
        self._thread = None
        return True

    def _run(self, begun: float) -> None:
        next_at = begun + self._every_s
        while not self._over.wait(max(0.0, next_at - time.monotonic())):
            self._sample()
            next_at += self._every_s
