"""Decide which percentiles a trial has enough requests for."""

from __future__ import annotations

from math import ceil

# A percentile is the boundary of its tail. With ten requests in the tail their number is known to a third (Poisson:
# 1 / sqrt(10)); with fewer the figure is a few single requests. Distribution-free limits of 95% exist from 3.7 on
# (David and Nagaraja, Order Statistics, 2003, section 7.1); ten makes them usable.
TAIL = 10


def requests_needed(percentile: float) -> int:
    """Return the number of requests that a trial needs for a percentile: 1,000 for p99, 10,000 for p99.9."""
    tail_share = min(percentile, 100 - percentile) / 100
    return ceil(round(TAIL / tail_share, 6))


def knowable(percentile: float, requests: float) -> bool:
    """Return whether a trial with this number of requests, answered or not, can know the percentile."""
    return requests >= requests_needed(percentile)
