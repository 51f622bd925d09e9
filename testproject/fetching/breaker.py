"""A circuit breaker: after some failures in a row the origin is not asked for a while, then by one fetch alone.

The states, the counts and the clock are those of the library ``circuitbreaker``. It takes everything that is not a
failure for a success, as PyBreaker does: a fetch that is cancelled because its client went away would close a breaker
that is half open. So it is told of a fetch after its end, and only where that says something of the origin: not of one
that was cancelled, nor of one that began before the breaker opened and ended after. Half open, it would let through all
that come until the first of them ends; here it is one at a time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from circuitbreaker import STATE_CLOSED, STATE_HALF_OPEN, CircuitBreaker

from fetching.results import Refused

FAILURES = 5  # in a row, in one process
OPEN_S = 2


class _Bad(Exception):
    """What the library is told of a fetch that failed."""


class Asked:
    """A fetch that the breaker has let through. ``failed`` is what came of it; None: nothing that says anything."""

    failed: bool | None = None


class Breaker:
    """The breaker of a process."""

    def __init__(self, failures: int = FAILURES, open_s: int = OPEN_S) -> None:
        self._circuit = CircuitBreaker(failures, open_s, expected_exception=_Bad, name="origin")
        self._lock = threading.Lock()
        self._trying = False

    @property
    def state(self) -> str:
        """``closed``, ``open`` or ``half_open``."""
        return self._circuit.state

    @contextmanager
    def asking(self) -> Iterator[Asked]:
        """A fetch, whose end is noted there. Raises Refused."""
        with self._lock:
            trial = self.state == STATE_HALF_OPEN
            if (trial and self._trying) or not (trial or self.state == STATE_CLOSED):
                raise Refused
            self._trying = self._trying or trial
        asked = Asked()
        try:
            yield asked
        finally:
            with self._lock:
                if trial:
                    self._trying = False
                if asked.failed is not None and (trial or self.state == STATE_CLOSED):
                    self._tell(asked.failed)

    def _tell(self, failed: bool) -> None:
        with suppress(_Bad), self._circuit:
            if failed:
                raise _Bad
