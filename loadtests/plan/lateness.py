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
    return _share(result, key, result.latency_ms.get(key))


def late_share_of_lag(result: Result, key: str) -> float | None:
    """The same over the lag of deliveries, where there are any."""
    return _share(result, key, result.deliveries.lag_ms.get(key) if result.deliveries else None)


def _share(result: Result, key: str, time: float | None) -> float | None:
    late = result.pacing_lag_ms.get(key)
    return None if late is None or not time else late / time


def too_late(result: Result, key: str) -> bool:
    """Whether the generator was so late that the percentile says little of the server."""
    return _over(late_share(result, key))


def lag_too_late(result: Result, key: str) -> bool:
    """The same of a percentile of the lag of deliveries."""
    return _over(late_share_of_lag(result, key))


def _over(share: float | None) -> bool:
    return share is not None and share > LATE
