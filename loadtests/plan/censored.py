"""Percentiles of all requests that were asked, where some of them failed or were never answered, and of all deliveries
that were expected."""

from __future__ import annotations

from functools import lru_cache
from math import inf

from loadtests.plan.objective import MAX_ERRORS
from loadtests.records import Result
from loadtests.records.histogram import Histogram
from loadtests.records.result import PERCENTILES


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


def of_deliveries(result: Result, key: str) -> float | None:
    """A percentile of the lag in ms over all deliveries that were expected, of which those that are missing rank as
    infinitely late: infinite where so many are that it is never reached. None where it is not known."""
    deliveries = result.deliveries
    if deliveries is None:
        return None
    if not deliveries.missing:
        return deliveries.lag_ms.get(key)
    if deliveries.delivered < deliveries.expected * PERCENTILES[key] / 100:
        return inf
    text = result.histograms.get("lag")
    if text is None:
        return None
    found = _histogram(text).percentile(PERCENTILES[key] * deliveries.expected / deliveries.delivered)
    return None if found is None else found / 1000


@lru_cache(maxsize=8)
def _histogram(text: str) -> Histogram:
    return Histogram.decode(text)
