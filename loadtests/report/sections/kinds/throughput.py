"""Add a chart of the answered requests in each second to the report's section about throughput."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import number, series, span
from loadtests.plan.kinds import Test
from loadtests.report.charts import curves
from loadtests.report.charts.palette import looks
from loadtests.report.charts.shared import Chart
from loadtests.report.points import ChartRow, valid_blocks
from loadtests.report.tables import Additions

MOMENTS = 5  # minimum number of seconds for a useful chart


def charts(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of the successful requests in each second, if there are enough seconds."""
    many = test.kind.cost_unit.plural
    labels = results.by_estimate(test, test.decisive)
    rows = [row for label in labels for row in _line(results.cells[label, test.name], test.pace.seconds, many)]
    if len({row["t"] for row in rows}) < MOMENTS:
        return
    texts = [
        f"{label} {number(min(values))} to {number(max(values))}"
        for label in results.labels
        if (values := [row["value"] for row in rows if row["label"] == label])
    ]
    yield Chart(
        f"over-time-{test.name}",
        f"{many.capitalize()} answered well in each second: the median over trials, with a band from the lowest to the "
        "highest.",
        f"{many.capitalize()} per second over {test.pace.seconds:g} seconds, {test.description}. Lowest to highest "
        f"second: {series(texts)}.",
        partial(
            curves.over_time,
            rows,
            looks(results.labels),
            test.pace.seconds,
            many,
            [f"{test.description}, {test.engine}; median and range of {span(valid_blocks(results, test), 'block')}"],
        ),
    )


def _line(cell: Cell, duration_s: float, many: str) -> list[ChartRow]:
    """Return a setup's points, one for each full second of the test."""
    seconds: dict[float, list[int]] = {}
    for trial in cell.valid:
        for second in trial.result.timeline if trial.result else ():
            # Answers after the end (in the grace period) don't belong to a full second of the test.
            if second.t + 1 <= duration_s + 0.001:
                seconds.setdefault(second.t, []).append(second.ok)
    return [
        {
            "label": cell.label,
            "t": t + 0.5,
            "value": median(counts),
            "low": min(counts),
            "high": max(counts),
            "text": f"{cell.label}: second {t + 1:g}: {number(median(counts))} {many}",
        }
        for t, counts in sorted(seconds.items())
    ]


ADDITIONS = Additions(charts=charts)
