"""Convert measured figures to the rows of charts, and to the alternative texts of charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from loadtests.analyse.compare.within import Estimate
from loadtests.analyse.results import Results
from loadtests.formatting import NOT_REACHED, closed, figure, interval, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report import setup_names
from loadtests.report.charts import palette
from loadtests.trials import readings

ChartRow = dict[str, Any]  # a row of a chart's data
BEYOND = 1e300  # beyond the end of any chart's axis


def subtitle(results: Results, test: Test) -> list[str]:
    blocks = valid_blocks(results, test)
    within = "" if max(blocks, default=0) < 2 else " with 95% interval"
    return [f"{test.description}, {test.engine}; mean of {span(blocks, 'block')}{within}"]


def by_engine(results: Results, test: Test) -> str:
    """Return the engine, such as ``, by loadtest``, or "" if no other engine runs the test."""
    others = (
        other for other in results.tests if other.kind is test.kind and other.comparison_key == test.comparison_key
    )
    return f", by {test.engine}" if any(other.engine != test.engine for other in others) else ""


def valid_blocks(results: Results, test: Test) -> list[int]:
    cells = (results.cells[label, test.name] for label in results.labels_in(test.name))
    return [len(cell.valid) for cell in cells if cell.valid]


def kind(results: Results, label: str) -> str:
    """Return a setup's kind for the legend of a chart: WSGI, ASGI, ASGI over a channel layer, or a peer."""
    return palette.kind(results.setup(label).interface)


def row_of(results: Results, label: str) -> ChartRow:
    """Return a chart row without a figure: label, kind, and the setup's name if the label doesn't contain the name."""
    setup = setup_names.shown_with(results, label)
    return {"label": label, "kind": kind(results, label), **({"setup": setup} if setup else {})}


def point(results: Results, label: str, test: Test, metric: Metric, name: str, unit: str) -> ChartRow:
    """Return a setup's estimate as a chart row, without a value if the estimate isn't known."""
    estimate = results.estimate(label, test.name, metric.name)
    row = row_of(results, label)
    if estimate is None:
        why = why_unknown(results, label, test, metric)
        return {**row, "note": why, "text": f"{label}: {name}: {why}"}
    if math.isinf(estimate.value):
        text = f"{label}: {name}: {NOT_REACHED}, too many failed"
        return {**row, "note": NOT_REACHED, "text": text}
    within = f" ({text})" if (text := interval(estimate)) else ""
    return {
        **row,
        "value": estimate.value,
        "note": figure(estimate),
        "text": f"{label}: {name} {figure(estimate)} {unit}{within}",
        **whiskers(estimate),
    }


def whiskers(estimate: Estimate) -> ChartRow:
    """Return the ends of an estimate's interval, as a part of a chart row.

    If the estimate is a lower bound, the upper end is outside the chart. If the interval is open, the result is empty.
    """
    if estimate.at_least:
        return {"low": estimate.low or estimate.value, "high": BEYOND}
    return {"low": estimate.low, "high": estimate.high} if closed(estimate) else {}


def whisker_note(rows: Sequence[ChartRow], together: bool = False) -> str:
    """Return a sentence for a chart's caption that explains the whiskers, or an empty string if no row has whiskers.

    Args:
        rows: The rows of the chart.
        together: Whether all intervals of the run hold at the same time. This is true for the intervals of ratios.
    """
    if not any("low" in row for row in rows):
        return ""
    scope = "which hold together" if together else "each on its own"
    return f" Whiskers are 95% intervals over blocks, {scope}. If one ends at the edge, the interval is longer."


def why_unknown(results: Results, label: str, test: Test, metric: Metric) -> str:
    cell = results.cells[label, test.name]
    if not cell.valid:
        return "no valid trial" if cell.invalid else "not measured"
    if readings.too_few(cell.valid, metric):
        return f"too few {test.kind.load_unit}s to know"
    delayed = (why for trial in cell.valid if (why := readings.delay_note(trial, metric)))
    return next(delayed, "not known")


def in_words(rows: Sequence[ChartRow]) -> str:
    """List the labels and figures of chart rows, such as ``gunicorn 2.03 and daphne 4.10``."""
    return series([f"{row['label']} {row['note']}" for row in rows])
