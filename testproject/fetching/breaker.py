"""A circuit breaker: after some failures in a row the origin is not asked for a while, then by one fetch alone.

The states, the counts and the clock are those of the library ``circuitbreaker``, which takes whatever is not a failure
for a success: a cancelled fetch would close a half-open breaker. So it hears of a fetch only after its end, and only if
that says something about the origin: not if it was cancelled, or began before the breaker opened and ended after. Half
open, the library lets everything through until the first fetch ends; here it is one at a time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from circuitbreaker import STATE_CLOSED, STATE_HALF_OPEN, CircuitBreaker

from fetching.results import Refused

FAILURES = 5  # in a row, in one process
OPEN_S = 2


class _Bad(Exception):
    """A failed fetch, for the library."""


class Asked:
    """A fetch that the breaker let through. ``failed`` is None where its end says nothing about the origin."""

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
        """A fetch; set ``failed`` on what it yields. Raises Refused."""
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
