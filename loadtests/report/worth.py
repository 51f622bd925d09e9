"""Describe how servers change the CPU time of the measured view."""

from __future__ import annotations

from loadtests.analyse import cost_model as models
from loadtests.analyse.cost_model import CostModel, Ranged
from loadtests.analyse.results import Results
from loadtests.formatting import number, percent, series
from loadtests.plan.kinds.requests import Throughput

MOST_KNOWN = 100.0  # If the CPU time could be this many times higher, the interval is useless.
NOT_KNOWN = "needs more blocks for a result"


def sentence(results: Results) -> str:
    """Describe how the CPU time of the view under full load changes with the cheapest and the most expensive server.

    Returns:
        The sentences about the first throughput test, or an empty string if the run has no such test or figures.
    """
    test = next((test for test in results.tests if test.kind is Throughput), None)
    model = models.cost_model(results, test.name) if test else None
    if test is None or model is None or not model.added_ms:
        return ""
    view = "Your view takes" if len(test.requests) == 1 else "An average request of your mix takes"
    ordered = sorted(model.added_ms, key=lambda label: model.added_ms[label].value)
    ends = list(dict.fromkeys((ordered[0], ordered[-1])))
    most = MOST_KNOWN * model.baseline_ms
    said = (_change(model, one) if (one := model.added_ms[label]).high <= most else NOT_KNOWN for label in ends)
    changes = series([f"{label} {change}" for label, change in zip(ends, said, strict=True)])
    return (
        f"{view} {number(model.baseline_ms)} ms of CPU time. Compared with {models.BASELINE}, {changes}; "
        f"these intervals aren't adjusted for the other comparisons of the page."
    )


def _change(model: CostModel, added: Ranged) -> str:
    """Describe a change, such as ``saves 2% (1% to 3%)``. If the interval contains 0, the change isn't significant."""
    low, value, high = (end / model.baseline_ms for end in (added.low, added.value, added.high))
    if low <= 0 <= high:
        return f"doesn't differ significantly ({low:+.0%} to {high:+.0%})"
    ends = sorted((abs(low), abs(high)))
    return f"{'saves' if value < 0 else 'costs'} {percent(abs(value))} ({percent(ends[0])} to {percent(ends[1])})"
