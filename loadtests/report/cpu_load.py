"""Describe the load of a test that measured CPU time.

A busy server needs less CPU time for a request than a server that is often idle, so reports show figures of CPU time
with their load.
"""

from __future__ import annotations

from loadtests.analyse.results import Results
from loadtests.formatting import per_second
from loadtests.plan.kinds import Test


def at_load(results: Results, test: Test) -> str:
    """Return the load for a heading, such as "at full load" or "at 73/s"."""
    if is_full(results, test):
        return "at full load"
    if test.pace.is_closed_loop:
        return "in a closed loop"
    rate = test.pace.rate_found
    return f"at {per_second(rate)}/s" if rate else ""


def is_full(results: Results, test: Test) -> bool:
    """Check whether a test kept the cores of at least one setup fully busy."""
    labels = [label for label in results.labels_in(test.name) if results.cells[label, test.name].valid]
    loop = test.pace.is_closed_loop and not test.waits_on_purpose
    return loop and not all(results.is_lower_bound(label, test.name) for label in labels)
