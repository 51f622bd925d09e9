"""How much of a percentile is the generator's own scheduling delay, in sending and in reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loadtests.records import Result
from loadtests.records.histogram import decoded
from loadtests.records.result import PERCENTILES

# The delay of the generator is part of every response time. Where it is more than a quarter of a percentile it could
# make a third of difference between two setups out of nothing. There is no floor: of a response time of 2 ms a delay
# of 1 ms is half, however short it is.
LATE = 0.25

Percentile = Callable[[Result, str], float | None]


@dataclass(frozen=True)
class Delay:
    """The generator's part of a kind of time: ``time`` is that at a percentile (``p99``) in ms, ``reading`` how long a
    delivery may have lain in the generator before it was read. None where they are not known. ``sending``: whether it
    is counted from when the generator should have sent something."""

    time: Percentile
    reading: Percentile = lambda result, key: None
    sending: bool = True

    def sending_share(self, result: Result, key: str) -> float | None:
        """The delay in sending over the time; None where either is not known: a closed loop has no time to be late
        for."""
        if not self.sending:
            return None
        return _share(result.pacing_lag_ms.get(key), self.time(result, key))

    def reading_share(self, result: Result, key: str) -> float | None:
        """The delay in reading over the time; None where either is not known."""
        return _share(self.reading(result, key), self.time(result, key))

    def too_late(self, result: Result, key: str) -> bool:
        """Whether the generator sent, or may have read, so late that the percentile says little of the server."""
        shares = (self.sending_share(result, key), self.reading_share(result, key))
        return any(share is not None and share > LATE for share in shares)


def _share(late: float | None, time: float | None) -> float | None:
    return None if late is None or not time else late / time


def _lag(result: Result, key: str) -> float | None:
    return result.deliveries.lag_ms.get(key) if result.deliveries else None


def _reading(result: Result, key: str) -> float | None:
    known = result.deliveries.reading_lag_ms if result.deliveries else None
    return known.get(key) if known else None


def _last(result: Result, key: str) -> float | None:
    known = result.deliveries.last_ms if result.deliveries else None
    return known.get(key) if known else None


def _reading_of_last(result: Result, key: str) -> float | None:
    """How long the last delivery of a message may have lain in the generator.

    The last of R receivers is as late as the latest of R readings is. That one is below a time as often as all of R
    draws are, so a percentile p of it is the percentile p ** (1 / R) of a single reading. Readings of one message come
    together and are less than R draws, which makes their latest earlier: the share is rather too large than too small.
    """
    deliveries, readings = result.deliveries, result.histograms.get("reading_lag")
    if deliveries is None or not deliveries.messages or not deliveries.expected or readings is None:
        return None
    receivers = deliveries.expected / deliveries.messages
    lain_us = decoded(readings).percentile(100 * (PERCENTILES[key] / 100) ** (1 / receivers))
    return None if lain_us is None else lain_us / 1000


def _event_delay(result: Result, key: str) -> float | None:
    return result.streams.delay_ms.get(key) if result.streams else None


def _reading_of_event(result: Result, key: str) -> float | None:
    return result.streams.reading_lag_ms.get(key) if result.streams else None


ANSWERS = Delay(lambda result, key: result.latency_ms.get(key))
LAG = Delay(_lag, _reading)  # of every delivery
EVENT_DELAY = Delay(_event_delay, _reading_of_event, sending=False)  # of every event of a stream
LAST = Delay(_last, _reading_of_last)  # until the last receiver has a message
