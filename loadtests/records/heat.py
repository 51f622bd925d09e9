"""Define the steps of a heat map of times: six steps per power of ten, which are about equally high in a chart."""

from __future__ import annotations

import bisect

from loadtests.records.histogram import Histogram

MANTISSAS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
# The lower ends of the steps in ms. The first step contains all times below 0.1 ms, and the last step has no upper end.
BEGINS = (0.0, *(mantissa * 10.0**power for power in range(-1, 6) for mantissa in MANTISSAS))
LAST_END = 1e6


def heat(times: Histogram) -> tuple[tuple[float, int], ...]:
    """Group the values of a histogram of microseconds by the steps of a heat map.

    Returns:
        The lower end in ms and the number of values, for each step that isn't empty.
    """
    found: dict[float, int] = {}
    for value_us, count in times.values():
        begin = BEGINS[bisect.bisect_right(BEGINS, value_us / 1000) - 1]
        found[begin] = found.get(begin, 0) + count
    return tuple(found.items())


def end_of(begin: float) -> float:
    """Return the upper end in ms of the step whose lower end is ``begin``."""
    place = bisect.bisect_right(BEGINS, begin)
    return BEGINS[place] if place < len(BEGINS) else LAST_END
