"""Stop fetching from the origin for a while after several failures in a row, with a circuit breaker.

The library ``circuitbreaker`` provides the states, counts and clock. The library counts each call without a failure
as a success, so a cancelled fetch would close a half-open breaker. For this reason, the breaker reports a fetch to the
library only after the fetch has ended, and only if its end is evidence about the origin. The end of a cancelled fetch
isn't evidence. Neither is the end of a fetch that started before the breaker opened and ended after it opened.

In the half-open state, the library allows all fetches until the first fetch ends. This breaker allows one fetch at a
time.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from circuitbreaker import STATE_CLOSED, STATE_HALF_OPEN, CircuitBreaker

from fetching.results import Refused

FAILURES = 5  # consecutive failures in one process
OPEN_S = 2


class _Bad(Exception):
    """Report a failed fetch to the library."""


class Asked:
    """A fetch that the breaker allowed. ``failed`` is None if the fetch's end isn't evidence about the origin."""

    failed: bool | None = None


class Breaker:
    """The circuit breaker of a process."""

    def __init__(self, failures: int = FAILURES, open_s: int = OPEN_S) -> None:
        self._circuit = CircuitBreaker(failures, open_s, expected_exception=_Bad, name="origin")
        self._lock = threading.Lock()
        self._trying = False

    @property
    def state(self) -> str:
        """The state: ``closed``, ``open`` or ``half_open``."""
        return self._circuit.state

    @contextmanager
    def asking(self) -> Iterator[Asked]:
        """Allow a fetch. Set ``failed`` on the yielded object after the fetch.

        Raises:
            Refused: If the breaker is open, or half open with a fetch in progress.
        """
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
