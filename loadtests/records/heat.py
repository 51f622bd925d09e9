"""The steps of a heat map of times: six in each power of ten, so that each is as high as the next where it is drawn."""

from __future__ import annotations

import bisect

from loadtests.records.histogram import Histogram

MANTISSAS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
# Where the steps begin, in ms: from a tenth on, what is quicker being in the first of all; the last is open.
BEGINS = (0.0, *(mantissa * 10.0**power for power in range(-1, 6) for mantissa in MANTISSAS))
LAST_END = 1e6


def heat(times: Histogram) -> tuple[tuple[float, int], ...]:
    """A histogram of microseconds by steps: where each that has any begins, in ms, and how many it has."""
    found: dict[float, int] = {}
    for value_us, count in times.values():
        begin = BEGINS[bisect.bisect_right(BEGINS, value_us / 1000) - 1]
        found[begin] = found.get(begin, 0) + count
    return tuple(found.items())


def end_of(begin: float) -> float:
    """Where the step ends that begins there, in ms."""
    place = bisect.bisect_right(BEGINS, begin)
    return BEGINS[place] if place < len(BEGINS) else LAST_END
