"""Add charts of percentiles, and a table of the rate and the ceilings, to the report's section about latency.

If the run has several rates, also add a chart of response time over load.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import P50, TIMES
from loadtests.report import findings, points, tables
from loadtests.report.charts import latency
from loadtests.report.charts.shared import Chart
from loadtests.report.sections import load_curve
from loadtests.report.tables import Additions
from loadtests.report.view import Table

DRAWN = ("p50", "p90", "p95", "p99")


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    yield from percentiles(results, test)
    yield from load_curve.charts(results, test)


def percentiles(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of percentiles by setup, if there are valid trials."""
    time = results.latency(test.name)
    rows = [
        {"percentile": metric.short, **points.point(results, label, test, metric, metric.short, metric.unit)}
        for metric in TIMES
        if metric.short in DRAWN
        for label in results.by_estimate(test, metric)
    ]
    known = dict.fromkeys(row["percentile"] for row in rows if "value" in row)
    rows = [row for row in rows if row["percentile"] in known]
    if not rows:
        return
    texts = [f"{key}: {points.in_words([row for row in rows if row['percentile'] == key])}" for key in known]
    yield Chart(
        f"latency-{test.name}",
        f"{time.capitalize()} by percentile, {findings.condition(results, test)}.{points.whisker_note(rows)}",
        f"{time.capitalize()} in milliseconds, {test.description}. {'; '.join(texts)}.",
        partial(latency.spec, rows, findings.title(results, test, P50), time, points.subtitle(results, test)),
    )


def ceilings(results: Results, test: Test) -> Iterator[Table]:
    """If the run measured ceilings, yield a table of the ceilings, with the test's rate as a share of each ceiling."""
    found = results.record.ceilings.get(test.name)
    rate = test.fixed_rate
    if not found or rate is None:
        return
    unit = f"{test.kind.load_unit}s/s"
    yield tables.listed(
        f"ceilings-{test.name}",
        "The rate and the ceilings",
        sorted(results.labels_in(test.name), key=lambda label: -found.get(label, 0.0)),
        {
            "setup": lambda label: label,
            f"{unit} at the most": lambda label: f"{found[label]:,.0f}" if label in found else tables.unknown(),
            f"{rate:g}/s is": lambda label: f"{rate / found[label]:.0%}" if label in found else tables.unknown(),
        },
        f"The highest throughput of each setup in a second, before the first block. The rate of this test, {rate:g} "
        f"{unit}, is a share of the lowest ceiling.",
    )


ADDITIONS = Additions(tables=ceilings, charts=_charts)
PERCENTILES = Additions(tables=ceilings, charts=percentiles)
CEILINGS = Additions(tables=ceilings)
