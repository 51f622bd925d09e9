"""Count the requests and connections of an origin, in total and per second, and measure the origin's own delays."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, deque
from typing import Any

from loadtests.services.origin.player import Clock, Fate

KEPT_SECONDS = 7200  # the number of seconds whose counts are kept
_TENTHS = 10  # the resolution of delays is a tenth of a millisecond


@dataclasses.dataclass
class OriginSecond:
    """The counts of the second that starts ``t`` seconds after the start.

    ``in_flight`` is the mean over the second. ``most_in_flight`` and ``connections`` are maximums.
    """

    t: int
    requests: int = 0
    answered: int = 0
    opened: int = 0
    reused: int = 0
    in_flight: float = 0.0
    most_in_flight: int = 0
    connections: int = 0


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
        self._began = self._last = self._looked = self._clock()
        self._cpu = time.process_time()
        self._requests = self._opened = self._reused = self._refused = 0
        self._carried = self._in_flight  # earlier requests that are still in flight
        self._most_in_flight, self._most_connections = self._in_flight, self._connections
        self._fates: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._late: Counter[int] = Counter()
        self._most_late = 0.0
        self._request_s = 0.0
        self._seconds: deque[OriginSecond] = deque(maxlen=KEPT_SECONDS)
        self._second = self._fresh(0)

    def began(self, first: bool) -> None:
        """Count a request, which is either the first or a later request on its connection."""
        second = self._turn()
        if first:
            self._connections += 1
            self._opened += 1
            second.opened += 1
        else:
            self._reused += 1
            second.reused += 1
        self._requests += 1
        self._in_flight += 1
        second.requests += 1
        second.most_in_flight = max(second.most_in_flight, self._in_flight)
        second.connections = max(second.connections, self._connections)
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        self._most_connections = max(self._most_connections, self._connections)

    def ended(self, fate: Fate, status: int, late_s: float) -> None:
        """Count a request that ended ``late_s`` seconds after it was due. A reset is counted without a status."""
        second = self._turn()
        self._in_flight -= 1
        self._fates[fate.value] += 1
        self._late[round(late_s * 1000 * _TENTHS)] += 1
        self._most_late = max(self._most_late, late_s)
        if fate is not Fate.RESET:
            self._statuses[status] += 1
            second.answered += 1

    def left(self, fate: Fate) -> None:
        """Count a client that disconnected before its request ended."""
        self._turn()
        self._in_flight -= 1
        self._fates[Fate.STALLED.value if fate is Fate.STALLED else "gone"] += 1

    def closed(self) -> None:
        """Count the end of a connection."""
        self._turn()
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

    def seconds(self) -> list[dict[str, Any]]:
        """Return the counts of each completed second, for at most the last two hours."""
        self._turn()
        return [{**dataclasses.asdict(second), "in_flight": round(second.in_flight, 3)} for second in self._seconds]

    def _late_ms(self, share: float) -> float | None:
        rank, counted = share * self._late.total(), 0
        for tenths in sorted(self._late):
            counted += self._late[tenths]
            if counted >= rank:
                return tenths / _TENTHS
        return None

    def _turn(self) -> OriginSecond:
        """Return the current second. Add the seconds before it, including seconds without requests."""
        now = self._clock()
        self._request_s += self._in_flight * (now - self._looked)
        self._looked = now
        elapsed = now - self._began
        if elapsed - self._second.t > KEPT_SECONDS:  # don't store every second of a long time without requests
            self._second = self._fresh(int(elapsed) - KEPT_SECONDS)
            self._last = self._began + self._second.t
        while elapsed >= self._second.t + 1:
            end = self._began + self._second.t + 1
            self._second.in_flight += self._in_flight * (end - self._last)
            self._seconds.append(self._second)
            self._second, self._last = self._fresh(self._second.t + 1), end
        self._second.in_flight += self._in_flight * (now - self._last)
        self._last = now
        return self._second

    def _fresh(self, t: int) -> OriginSecond:
        return OriginSecond(t, most_in_flight=self._in_flight, connections=self._connections)
