"""How much of a percentile is the generator's own lateness."""

from __future__ import annotations

from loadtests.records import Result

# Lateness of the generator is part of every response time. Where it is more than a quarter of a percentile it could
# make a third of difference between two setups out of nothing. There is no floor: of a response time of 2 ms a lateness
# of 1 ms is half, however short it is.
LATE = 0.25


def late_share(result: Result, key: str) -> float | None:
    """The generator's own lateness at a percentile (``p99``) over the time at that percentile; None where either is not
    known: a closed loop has no time to be late for."""
    late, time = result.pacing_lag_ms.get(key), result.latency_ms.get(key)
    return None if late is None or not time else late / time


def too_late(result: Result, key: str) -> bool:
    """Whether the generator was so late that the percentile says little of the server."""
    share = late_share(result, key)
    return share is not None and share > LATE
