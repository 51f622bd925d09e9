"""Draw ratios to the baseline with their intervals, in front of bands for equivalence and the machine's noise floor."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import BAND, INK, MUTED, NOISE
from loadtests.report.charts.shared import WIDTH, Looks, Rows

ROW = 20
LABEL = 46  # width of a tick's label in pixels
ABOVE = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
BELOW = (0.99, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001)


def _ends(rows: Rows) -> tuple[float, float]:
    found = shared.figures(rows, "ratio", "low", "high")
    return min([1 / 1.05, *found]) / 1.02, max([1.05, *found]) * 1.02


def spec(rows: Rows, bands: Rows, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw a panel for each metric, with a row for each compared setup.

    Each row contains label, kind (of the setup), metric, note and text, and also ratio, low and high if they are known.
    Each band contains metric, kind (its name in the legend), low and high.
    """
    looks = shared.kinds(rows)
    rows = shared.clamp(rows, "ratio")
    low, high = _ends(rows)
    bands = [{**band, "low": max(band["low"], low), "high": min(band["high"], high)} for band in bands]
    kinds = list(dict.fromkeys(band["kind"] for band in bands))
    fill = alt.Fill("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[BAND, NOISE][: len(kinds)]))
    axis = alt.Axis(grid=True, values=_ticks(low, high), labelExpr="'×' + format(datum.value, '.3~r')")
    scale = shared.log_scale(low, high)
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    drawn = []
    for metric in metrics:
        own_rows, own_bands = (shared.where(some, metric=metric) for some in (rows, bands))
        x_title = "ratio to the baseline (logarithmic)" if metric == metrics[-1] else None
        x = alt.X("low:Q", scale=scale, axis=axis, title=x_title)
        drawn.append(_panel(own_rows, own_bands, scale, x, fill, looks).properties(title=shared.heading(metric)))
    return shared.finish(shared.stacked(drawn), title, subtitle, [row["label"] for row in rows])


def _panel(rows: Rows, bands: Rows, scale: alt.Scale, x: alt.X, fill: alt.Fill, looks: Looks) -> Any:
    height = ROW * len(rows)
    behind = shared.chart_of(bands).mark_rect(opacity=0.75)
    band = behind.encode(x=x, x2=alt.X2("high:Q"), y=alt.YValue(0), y2=alt.Y2Value(height), fill=fill)
    one = shared.chart_of([{"one": 1}]).mark_rule(color=INK, strokeWidth=1).encode(x=alt.X("one:Q", scale=scale))
    base = shared.described(rows).encode(y=shared.label_axis(rows))
    measured = base.transform_filter("isValid(datum.ratio)")
    rules = shared.whiskers(measured, x, 2.5, looks, "kind")
    points = shared.points(measured.encode(x=alt.X("ratio:Q", scale=scale)), 75, looks, "kind")
    notes = base.mark_text(align="left", dx=10).encode(
        x=alt.XValue(WIDTH),
        text=alt.Text("note:N"),
        color=alt.condition("isValid(datum.ratio)", alt.value(INK), alt.value(MUTED)),
    )
    layers = [band, one, rules, *shared.arrows(measured, scale, shared.colour(looks, "kind")), points, notes]
    return shared.panel(layers, height)


def _ticks(low: float, high: float) -> list[float]:
    """Return ticks at 1 and at round ratios below and above 1, so far apart that their labels don't overlap."""
    apart = math.log(high / low) * LABEL / WIDTH
    ticks = [1.0]
    for side in (ABOVE, BELOW):
        last = 1.0
        for step in side:
            if low <= step <= high and abs(math.log(step / last)) >= apart:
                ticks.append(last := step)
    return sorted(ticks)
