"""Which percentiles a trial can know, and what they are of all requests that were asked."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, inf

from loadtests.plan.objective import MAX_ERRORS
from loadtests.records import Result
from loadtests.records.histogram import Histogram
from loadtests.records.result import PERCENTILES

# A percentile is the boundary of its tail. With ten requests in the tail their number is known to a third (Poisson:
# 1 / sqrt(10)); with fewer the figure is a few single requests. Distribution-free limits of 95% exist from 3.7 on
# (David and Nagaraja, Order Statistics, 2003, section 7.1); ten makes them usable.
TAIL = 10


def requests_needed(percentile: float) -> int:
    """Completed requests that a trial needs for ``percentile`` (99.9 is p99.9): 1,000 for p99, 10,000 for p99.9.

    Raises ValueError unless it is between 0 and 100.
    """
    if not 0 < percentile < 100:
        raise ValueError(f"a percentile is between 0 and 100, not {percentile}")
    tail_share = min(percentile, 100 - percentile) / 100
    return ceil(round(TAIL / tail_share, 6))


def knowable(percentile: float, requests: int) -> bool:
    """Whether a trial of so many completed requests can know the percentile; else show a dash."""
    return requests >= requests_needed(percentile)


def of_all(result: Result, key: str) -> float | None:
    """A percentile (``p99``) in ms of all planned requests, of which those that failed or were never answered rank as
    infinitely slow: infinite where so many did that it is never reached.

    None where it is not known: an engine without histograms knows only those that were answered.
    """
    failed = sum(result.failed.values())
    if not failed:
        return result.latency_ms.get(key)
    asked = result.ok + failed
    if result.ok < asked * PERCENTILES[key] / 100:
        return inf
    text = result.histograms.get(result.latency_of)
    if text is None:
        return result.latency_ms.get(key) if failed <= asked * MAX_ERRORS else None
    found = _histogram(text).percentile(PERCENTILES[key] * asked / result.ok)
    return None if found is None else found / 1000


@lru_cache(maxsize=8)
def _histogram(text: str) -> Histogram:
    return Histogram.decode(text)
