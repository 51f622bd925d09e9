"""Whether the processes that share a load saw one server, or machines and networks of their own."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.formatting import number, percent
from loadtests.records import Result

# By what share the p50 of two may differ, or by how many ms where that is more, and by what share of the requests what
# was answered well: a p50 of a hundred requests is known to some 10%, and two networks are not one.
DIFFERENCE = 0.25
DIFFERENCE_MS = 1.0
ENOUGH = 100  # requests of each


def differing(result: Result | None) -> Iterator[str]:
    """In words, how far apart what the processes saw is, where that is more than noise; else nothing."""
    seen = [one for one in result.generator if one.planned is not None and one.planned >= ENOUGH] if result else []
    times = [one.p50_ms for one in seen if one.p50_ms is not None]
    shares = [(one.ok or 0) / (one.planned or 1) for one in seen]
    if len(times) > 1 and max(times) - min(times) > max(DIFFERENCE_MS, DIFFERENCE * min(times)):
        yield f"p50 from {number(min(times))} to {number(max(times))} ms"
    elif len(shares) > 1 and max(shares) - min(shares) > DIFFERENCE:
        yield f"answered well: {percent(min(shares))} to {percent(max(shares))}"
