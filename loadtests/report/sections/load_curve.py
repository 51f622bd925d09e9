"""Response time over load, where a study has latency tests of the same requests at several rates: the chart's data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.latency import Latency
from loadtests.plan.metrics import P50, P99, Metric
from loadtests.report import points, ranking
from loadtests.report.charts import over_load
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.points import ChartRow
from loadtests.words import per_second, series, span

DRAWN = (P50, P99)
LEAST_RATES = 3  # that make a curve


def charts(results: Results, test: Test) -> Iterator[Chart]:
    """The chart of the tests that differ from this one by their rates alone, with the first of them; else none."""
    tests = [other for other in results.tests if isinstance(other, Latency) and _alike(other, test)]
    if tests and tests[0] is test and len({one.rate for one in tests}) >= LEAST_RATES:
        yield from _chart(results, sorted(tests, key=_rate))


def _rate(test: Latency) -> float:
    assert test.rate is not None  # which ``_alike`` asks for
    return test.rate


def _alike(one: Latency, test: Test) -> bool:
    return (
        isinstance(test, Latency)
        and not (one.recorded or test.recorded or one.rate is None)
        and (one.engine, one.arrivals, one.requests) == (test.engine, test.arrivals, test.requests)
    )


def _chart(results: Results, tests: Sequence[Latency]) -> Iterator[Chart]:
    """p50 and p99 of each setup over the tests' rates, as far as it holds them; none where nothing is known."""
    labels = [label for label in ranking.by_estimate(results, tests[-1], P50) if label != results.twin]
    rows = [
        row for metric in DRAWN for label in labels for test in tests for row in _point(results, label, test, metric)
    ]
    if not rows:
        return
    first, time = tests[0], results.latency(tests[0].name)
    blocks = span([count for test in tests for count in points.valid_blocks(results, test)], "block")
    yield Chart(
        f"over-load-{first.name}",
        f"{time.capitalize()} over load. A line has no point at a rate that the setup did not hold, or at which the "
        f"figure is not known. {points.INTERVALS}",
        f"{time.capitalize()} in milliseconds over requests per second, {first.asked}. {_told(results, tests, rows)}.",
        partial(
            over_load.spec,
            rows,
            looks(results.labels),
            time,
            [f"{first.asked}, {first.engine}; mean of {blocks} with 95% interval"],
        ),
    )


def _point(results: Results, label: str, test: Latency, metric: Metric) -> Iterator[ChartRow]:
    """A setup's point at the rate of a test; none where it did not do what it was asked, or the figure is not known."""
    if results.standings[label, test.name].trouble:
        return
    unit = f"{metric.unit} at {per_second(_rate(test))} requests/s"
    row = points.point(results, label, test, metric, metric.short, unit)
    if "value" in row:
        yield {**row, "percentile": metric.short, "rate": _rate(test)}


def _told(results: Results, tests: Sequence[Latency], rows: Sequence[ChartRow]) -> str:
    """The figures in words, and who did not hold which rate."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        figure = f"{row['note']} at {per_second(row['rate'])}/s"
        lines.setdefault(f"{row['percentile']}, {row['label']}", []).append(figure)
    told = [f"{name}: {series(figures)}" for name, figures in lines.items()]
    unheld = [
        f"{label} {overload}"
        for test in tests
        for label in results.labels_in(test.name)
        if label != results.twin and (overload := results.standings[label, test.name].overload)
    ]
    return "; ".join([*told, *unheld])
