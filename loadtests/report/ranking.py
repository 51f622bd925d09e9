"""The order of rows, the best first. An order is no verdict: neighbours may be equivalent."""

from __future__ import annotations

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric


def by_estimate(results: Results, test: Test, metric: Metric) -> list[str]:
    """All labels in a test, by their figures; those without one last."""
    labels = results.labels_in(test.name)
    estimates = {label: results.estimate(label, test.name, metric.name) for label in labels}
    return _sorted({label: one.value if one else None for label, one in estimates.items()}, metric)


def by_ratio(results: Results, test: Test, metric: Metric) -> list[str]:
    """The candidates, by their ratios to the baseline; those without one last."""
    labels = [label for label in results.candidates if label in results.labels_in(test.name)]
    comparisons = {label: results.comparisons.get((label, test.name, metric.name)) for label in labels}
    return _sorted({label: one.ratio if one else None for label, one in comparisons.items()}, metric)


def _sorted(values: dict[str, float | None], metric: Metric) -> list[str]:
    known = {label: value for label, value in values.items() if value is not None}
    ordered = sorted(known, key=known.__getitem__)
    if metric.more_is_better:
        ordered.reverse()
    return [*ordered, *(label for label in values if label not in known)]
