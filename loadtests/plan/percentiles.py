"""Decide for which percentiles a trial has enough requests."""

from __future__ import annotations

from math import ceil

# A percentile is the boundary of its tail. If the tail has ten requests, their number is accurate to a third (Poisson:
# 1 / sqrt(10)). With fewer requests, the figure depends on single requests. Distribution-free 95% limits exist for 3.7
# or more requests (David and Nagaraja, Order Statistics, 2003, section 7.1). With ten requests, the limits are useful.
TAIL = 10


def requests_needed(percentile: float) -> int:
    """Return the number of requests that a trial needs for a percentile: 1,000 for p99, 10,000 for p99.9."""
    tail_share = min(percentile, 100 - percentile) / 100
    return ceil(round(TAIL / tail_share, 6))


def knowable(percentile: float, requests: float) -> bool:
    """Return whether this number of requests, answered or not, is enough to determine the percentile."""
    return requests >= requests_needed(percentile)
