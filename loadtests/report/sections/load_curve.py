"""Find load curves, which are tests that differ only in their load, and draw the response time over load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loadtests.analyse.results import Results
from loadtests.formatting import series, span
from loadtests.plan.kinds import Test
from loadtests.plan.load_step import LoadStep
from loadtests.plan.metrics import P50, P99, Metric
from loadtests.report import points
from loadtests.report.charts import curves
from loadtests.report.charts.palette import looks
from loadtests.report.charts.shared import Chart
from loadtests.report.points import ChartRow

DRAWN = (P50, P99)
MIN_STEPS = 3  # minimum number of different loads in a curve
LoadCurve = list[tuple[LoadStep, Test]]


def curve(results: Results, test: Test) -> LoadCurve:
    """Return the test's load curve, sorted by load, or an empty list if it has too few steps."""
    if (own := test.load_step) is None:
        return []
    alike = (own.axis, own.comparison_key)
    steps = [
        (step, one) for one in results.tests if (step := one.load_step) and (step.axis, step.comparison_key) == alike
    ]
    enough = len({step.value for step, _ in steps}) >= MIN_STEPS
    return sorted(steps, key=lambda one: one[0].value) if enough else []


def is_inner(results: Results, test: Test) -> bool:
    return test in [one for _, one in curve(results, test)][1:-1]


def charts(results: Results, test: Test) -> Iterator[Chart]:
    """Yield the chart of the test's load curve, but only for the first test of the curve."""
    steps = curve(results, test)
    if steps and test is min((one for _, one in steps), key=results.tests.index):
        yield from _chart(results, steps)


def _chart(results: Results, steps: LoadCurve) -> Iterator[Chart]:
    """Draw p50 and p99 of each setup over the loads that the setup sustains."""
    (step, first), (_, last) = steps[0], steps[-1]
    labels = [label for label in results.by_estimate(last, P50) if label != results.aa_copy]
    rows = [
        row for metric in DRAWN for label in labels for one in steps for row in _point(results, label, *one, metric)
    ]
    if not rows:
        return
    time = results.latency(first.name)
    blocks = span([count for _, test in steps for count in points.valid_blocks(results, test)], "block")
    yield Chart(
        f"over-load-{first.name}",
        f"{time.capitalize()} over load. A line has no point at a load where the setup failed or has no figure."
        f"{points.whisker_note(rows)}",
        f"{time.capitalize()} in milliseconds over {step.axis}, {first.short_description}. "
        f"{_in_words(results, steps, rows)}.",
        partial(
            curves.over_load,
            rows,
            looks(results.labels),
            time,
            step.axis,
            [f"{first.short_description}, {first.engine}; mean of {blocks} with 95% interval"],
        ),
    )


def _point(results: Results, label: str, step: LoadStep, test: Test, metric: Metric) -> Iterator[ChartRow]:
    if results.standings[label, test.name].trouble:
        return
    row = points.point(results, label, test, metric, metric.short, f"{metric.unit} at {step.label}")
    if "value" in row:
        yield {**row, "panel": metric.short, "load": step.value, "brief": step.short_label}


def _in_words(results: Results, steps: LoadCurve, rows: Sequence[ChartRow]) -> str:
    """Describe the figures, and the setups that failed at each load."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        lines.setdefault(f"{row['panel']}, {row['label']}", []).append(f"{row['note']} at {row['brief']}")
    parts = [f"{name}: {series(figures)}" for name, figures in lines.items()]
    failing = [
        f"{label} {standing.overload or f'at {step.label}: {standing.trouble}'}"
        for step, test in steps
        for label in results.labels_in(test.name)
        if label != results.aa_copy and (standing := results.standings[label, test.name]).trouble
    ]
    return "; ".join([*parts, *failing])
