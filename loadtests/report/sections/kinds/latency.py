"""Add charts of percentiles to the report's section about latency.

If the run has several rates, also add a chart of response time over load.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import P50, TIMES
from loadtests.report import findings, points
from loadtests.report.charts import rows as charts
from loadtests.report.charts.shared import Chart
from loadtests.report.sections import load_curve
from loadtests.report.tables import Additions

DRAWN = ("p50", "p90", "p95", "p99")


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    yield from percentiles(results, test)
    yield from load_curve.charts(results, test)


def percentiles(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of percentiles by setup, if there are valid trials."""
    time = results.latency(test.name)
    rows = [
        {"panel": metric.short, **points.point(results, label, test, metric, metric.short, metric.unit)}
        for metric in TIMES
        if metric.short in DRAWN
        for label in results.by_estimate(test, metric)
    ]
    known = dict.fromkeys(row["panel"] for row in rows if "value" in row)
    rows = [row for row in rows if row["panel"] in known]
    if not rows:
        return
    texts = [f"{key}: {points.in_words([row for row in rows if row['panel'] == key])}" for key in known]
    yield Chart(
        f"latency-{test.name}",
        f"{time.capitalize()} by percentile, {findings.condition(results, test)}.{points.whisker_note(rows)}",
        f"{time.capitalize()} in milliseconds, {test.description}. {'; '.join(texts)}.",
        partial(charts.spec, rows, f"{time}, ms", findings.title(results, test, P50), points.subtitle(results, test)),
    )


ADDITIONS = Additions(charts=_charts)
PERCENTILES = Additions(charts=percentiles)
