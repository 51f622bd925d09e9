"""What latency has beside its figures: a chart of the percentiles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import TIMES
from loadtests.report import points, ranking
from loadtests.report.charts import latency
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.sections.additions import Additions

DRAWN = ("p50", "p90", "p95", "p99")


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    """Percentiles by setup; none where there is no valid trial."""
    time = results.latency(test.name)
    rows = [
        {"percentile": metric.short, **points.point(results, label, test, metric, metric.short, metric.unit)}
        for metric in TIMES
        if metric.short in DRAWN
        for label in ranking.by_estimate(results, test, metric)
    ]
    if not any("value" in row for row in rows):
        return
    said = [f"{key}: {points.told([row for row in rows if row['percentile'] == key])}" for key in DRAWN]
    yield Chart(
        f"latency-{test.name}",
        f"{time.capitalize()} by percentile and setup. {points.INTERVALS}",
        f"{time.capitalize()} in milliseconds, {test.what}. {'; '.join(said)}.",
        partial(latency.spec, rows, looks(results.labels), time, points.subtitle(results, test)),
    )


ADDITIONS = Additions(charts=_charts)
