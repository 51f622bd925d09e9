"""The order of rows: by effect, the best first, so that a long table or chart reads from one end to the other.

An order is no verdict: neighbours may be the same within their intervals, and the verdicts say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric


def by_estimate(results: Results, test: Test, metric: Metric) -> list[str]:
    """All labels in a test, by their own figure; those without one last, as in the study."""
    labels = results.labels_in(test.name)
    estimates = {label: results.estimate(label, test.name, metric.name) for label in labels}
    return _sorted(labels, {label: one.value for label, one in estimates.items() if one}, metric)


def by_ratio(results: Results, test: Test, metric: Metric) -> list[str]:
    """What is compared with the baseline, by its ratio; what has none last, as in the study."""
    labels = [label for label in results.candidates if label in results.labels_in(test.name)]
    comparisons = {label: results.comparisons.get((label, test.name, metric.name)) for label in labels}
    return _sorted(labels, {label: one.ratio for label, one in comparisons.items() if one}, metric)


def _sorted(labels: Sequence[str], values: Mapping[str, float], metric: Metric) -> list[str]:
    known = sorted((label for label in labels if label in values), key=values.__getitem__)
    if metric.more_is_better:
        known.reverse()
    return [*known, *(label for label in labels if label not in values)]
