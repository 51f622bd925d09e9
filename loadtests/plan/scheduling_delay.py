"""How much of a percentile is the generator's own scheduling delay, in sending and in reading."""

from __future__ import annotations

from loadtests.records import Result
from loadtests.records.histogram import decoded
from loadtests.records.result import PERCENTILES

# The delay of the generator is part of every response time. Where it is more than a quarter of a percentile it could
# make a third of difference between two setups out of nothing. There is no floor: of a response time of 2 ms a delay
# of 1 ms is half, however short it is.
LATE = 0.25


def late_share(result: Result, key: str) -> float | None:
    """The generator's own delay at a percentile (``p99``) over the time at that percentile; None where either is not
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


def read_share_of_lag(result: Result, key: str) -> float | None:
    """How long a delivery may have lain in the generator at a percentile, over the lag at that percentile; None where
    either is not known."""
    deliveries = result.deliveries
    if deliveries is None or deliveries.reading_lag_ms is None:
        return None
    lain, time = deliveries.reading_lag_ms.get(key), deliveries.lag_ms.get(key)
    return None if lain is None or not time else lain / time


def lag_too_late(result: Result, key: str) -> bool:
    """Whether the generator sent, or may have read, so late that a percentile of the lag says little of the server."""
    return _over(late_share_of_lag(result, key)) or _over(read_share_of_lag(result, key))


def late_share_of_last(result: Result, key: str) -> float | None:
    """The generator's delay over the time to the last receiver, at a percentile of that."""
    deliveries = result.deliveries
    return _share(result, key, deliveries.last_ms.get(key) if deliveries and deliveries.last_ms else None)


def read_share_of_last(result: Result, key: str) -> float | None:
    """How long the last delivery of a message may have lain in the generator, over the time until it was there, at a
    percentile of that time.

    The last of R receivers is as late as the latest of R readings is. That one is below a time as often as all of R
    draws are, so a percentile p of it is the percentile p ** (1 / R) of a single reading. Readings of one message come
    together and are less than R draws, which makes their latest earlier: the share is rather too large than too small.
    """
    deliveries = result.deliveries
    if deliveries is None or not deliveries.messages or not deliveries.expected or deliveries.last_ms is None:
        return None
    time, readings = deliveries.last_ms.get(key), result.histograms.get("reading_lag")
    if not time or readings is None:
        return None
    receivers = deliveries.expected / deliveries.messages
    lain_us = decoded(readings).percentile(100 * (PERCENTILES[key] / 100) ** (1 / receivers))
    return None if lain_us is None else lain_us / 1000 / time


def last_too_late(result: Result, key: str) -> bool:
    """Whether the generator sent, or may have read, so late that a percentile of the time to the last receiver says
    little of the server."""
    return _over(late_share_of_last(result, key)) or _over(read_share_of_last(result, key))


def _over(share: float | None) -> bool:
    return share is not None and share > LATE
