"""Whether the processes of a distributed load generator measured the same server."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.formatting import number, percent
from loadtests.records import Result

# A p50 of a hundred requests is known to some 10%.
DIFFERENCE = 0.25  # by which the p50, or the share of requests answered well, may differ
DIFFERENCE_MS = 1.0  # by which the p50 may differ where that is more
ENOUGH = 100  # requests of each


def differing(result: Result | None) -> Iterator[str]:
    """How far apart the processes' figures are, where that is more than noise."""
    known = [one for one in result.generator if one.planned is not None and one.planned >= ENOUGH] if result else []
    times = [one.p50_ms for one in known if one.p50_ms is not None]
    shares = [(one.ok or 0) / (one.planned or 1) for one in known]
    if len(times) > 1 and max(times) - min(times) > max(DIFFERENCE_MS, DIFFERENCE * min(times)):
        yield f"p50 from {number(min(times))} to {number(max(times))} ms"
    elif len(shares) > 1 and max(shares) - min(shares) > DIFFERENCE:
        yield f"answered well: {percent(min(shares))} to {percent(max(shares))}"
