"""Count the requests and connections of an origin, and measure the origin's own delays."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from loadtests.services.origin.player import Clock, Fate

_TENTHS = 10  # the resolution of delays is a tenth of a millisecond


class Counts:
    """The counts since the origin's start, or since ``clear``. The clock returns seconds.

    A connection is counted from its first request to a recipe. Requests to ``/_admin/`` aren't counted.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._in_flight = 0
        self._connections = 0
        self.clear()

    def clear(self) -> None:
        """Reset the counts. Open connections and requests in flight are still counted."""
        self._began = self._looked = self._clock()
        self._cpu = time.process_time()
        self._requests = self._opened = self._reused = self._refused = 0
        self._carried = self._in_flight  # earlier requests that are still in flight
        self._most_in_flight, self._most_connections = self._in_flight, self._connections
        self._fates: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._late: Counter[int] = Counter()
        self._most_late = 0.0
        self._request_s = 0.0

    def began(self, first: bool) -> None:
        """Count a request, which is either the first or a later request on its connection."""
        self._turn()
        if first:
            self._connections += 1
            self._opened += 1
        else:
            self._reused += 1
        self._requests += 1
        self._in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        self._most_connections = max(self._most_connections, self._connections)

    def ended(self, fate: Fate, status: int, late_s: float) -> None:
        """Count a request that ended ``late_s`` seconds after it was due. A reset is counted without a status."""
        self._turn()
        self._in_flight -= 1
        self._fates[fate.value] += 1
        self._late[round(late_s * 1000 * _TENTHS)] += 1
        self._most_late = max(self._most_late, late_s)
        if fate is not Fate.RESET:
            self._statuses[status] += 1

    def left(self, fate: Fate) -> None:
        """Count a client that disconnected before its request ended."""
        self._turn()
        self._in_flight -= 1
        self._fates[Fate.STALLED.value if fate is Fate.STALLED else "gone"] += 1

    def closed(self) -> None:
        """Count the end of a connection."""
        self._connections -= 1

    def refused(self) -> None:
        """Count a connection that was refused because of the limit."""
        self._refused += 1

    def totals(self) -> dict[str, Any]:
        """Return all counts for /_admin/current_count. Every request is counted in ``fates`` or ``in_flight``."""
        self._turn()
        elapsed_s = self._clock() - self._began
        return {
            "total_requests": self._requests,
            **{str(status): count for status, count in sorted(self._statuses.items())},
            "elapsed_s": round(elapsed_s, 3),
            "cpu_s": round(time.process_time() - self._cpu, 3),
            "request_seconds": round(self._request_s, 3),
            "in_flight": self._in_flight,
            "most_in_flight": self._most_in_flight,
            "in_flight_before": self._carried,
            "connections_open": self._connections,
            "most_connections": self._most_connections,
            "connections_opened": self._opened,
            "connections_reused": self._reused,
            "connections_refused": self._refused,
            "fates": dict(self._fates),
            "late_ms": {"p50": self._late_ms(0.5), "p99": self._late_ms(0.99), "max": round(self._most_late * 1000, 1)},
        }

    def _late_ms(self, share: float) -> float | None:
        rank, counted = share * self._late.total(), 0
        for tenths in sorted(self._late):
            counted += self._late[tenths]
            if counted >= rank:
                return tenths / _TENTHS
        return None

    def _turn(self) -> None:
        """Add the time in flight since the last change."""
        now = self._clock()
        self._request_s += self._in_flight * (now - self._looked)
        self._looked = now
