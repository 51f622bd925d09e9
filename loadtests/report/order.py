"""The order of rows: by effect, the best first, so that a long table or chart reads from one end to the other.

An order is no verdict: neighbours may be the same within their intervals, and the verdicts say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadtests.analyse.results import Results
from loadtests.plan.metrics import metric as metric_of


def by_estimate(results: Results, test: str, metric: str) -> list[str]:
    """All labels, by their own figure; those without one last, as in the study."""
    found = {label: results.estimate(label, test, metric) for label in results.labels}
    return _sorted(results.labels, {label: one.median for label, one in found.items() if one}, metric)


def by_ratio(results: Results, test: str, metric: str) -> list[str]:
    """What is compared with the baseline, by its ratio; what has none last, as in the study."""
    found = {label: results.comparisons.get((label, test, metric)) for label in results.candidates}
    return _sorted(results.candidates, {label: one.ratio for label, one in found.items() if one}, metric)


def _sorted(labels: Sequence[str], values: Mapping[str, float], metric: str) -> list[str]:
    known = sorted((label for label in labels if label in values), key=values.__getitem__)
    if metric_of(metric).more_is_better:
        known.reverse()
    return [*known, *(label for label in labels if label not in values)]
