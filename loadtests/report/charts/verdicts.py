"""Ratio to the baseline with its interval, over the band that counts as equal and the machine's own noise."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, arrows, clamp, colour, finish, heading, shape, values
from loadtests.report.charts.palette import BAND, INK, MUTED, NOISE, Look

ROW = 20
ABOVE = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
BELOW = (0.99, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001)


def spec(
    rows: list[dict[str, Any]],
    bands: list[dict[str, Any]],
    looks: dict[str, Look],
    title: str,
    subtitle: list[str],
) -> dict[str, Any]:
    """A panel for each metric, a row for each setup that is compared, in the order of ``rows``.

    ``rows`` have label, metric, note and text, and where there is a figure also ratio, low and high. ``bands`` have
    metric, kind (the legend's words), low and high.
    """
    rows = clamp(rows, "ratio")
    found = [row[key] for row in rows for key in ("ratio", "low", "high") if row.get(key) is not None]
    low, high = min([1 / 1.05, *found]) / 1.02, max([1.05, *found]) * 1.02
    bands = [{**band, "low": max(band["low"], low), "high": min(band["high"], high)} for band in bands]
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(grid=True, values=_ticks(low, high), labelExpr="'×' + format(datum.value, '.3~r')")
    kinds = list(dict.fromkeys(band["kind"] for band in bands))
    fill = alt.Fill("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[BAND, NOISE][: len(kinds)]))
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    panels = [
        _panel(
            metric,
            [row for row in rows if row["metric"] == metric],
            [band for band in bands if band["metric"] == metric],
            scale,
            alt.X("low:Q", scale=scale, axis=axis, title=x_title),
            fill,
            looks,
        )
        for metric, x_title in zip(
            metrics, [None] * (len(metrics) - 1) + ["ratio to the baseline (logarithmic)"], strict=True
        )
    ]
    return finish(alt.vconcat(*panels, spacing=16), title, subtitle, looks)


def _panel(
    metric: str,
    rows: list[dict[str, Any]],
    bands: list[dict[str, Any]],
    scale: alt.Scale,
    x: alt.X,
    fill: alt.Fill,
    looks: dict[str, Look],
) -> Any:
    labels = [row["label"] for row in rows]
    height = ROW * len(labels)
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    behind = alt.Chart(values(bands))
    band = behind.mark_rect(opacity=0.75).encode(x=x, x2="high:Q", y=alt.value(0), y2=alt.value(height), fill=fill)
    one = alt.Chart(values([{"one": 1}])).mark_rule(color=INK, strokeWidth=1).encode(x=alt.X("one:Q", scale=scale))
    base = alt.Chart(values(rows)).encode(y=y, description=alt.Description("text:N"))
    measured = base.transform_filter("isValid(datum.ratio)")
    rules = measured.mark_rule(strokeWidth=2.5).encode(x=x, x2="high:Q", color=colour(looks))
    points = measured.mark_point(filled=True, size=75, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale), color=colour(looks), shape=shape(looks)
    )
    notes = base.mark_text(align="left", dx=10).encode(
        x=alt.value(WIDTH),
        text="note:N",
        color=alt.condition("isValid(datum.ratio)", alt.value(INK), alt.value(MUTED)),
    )
    layers = [band, one, rules, *arrows(measured, scale, colour(looks)), points, notes]
    return alt.layer(*layers).properties(width=WIDTH, height=height, title=heading(metric))


def _ticks(low: float, high: float) -> list[float]:
    """1 and, on either side, round ratios far enough apart that their labels do not touch."""
    apart = math.log(high / low) * 46 / WIDTH  # the width of a label, as a part of the axis
    ticks = [1.0]
    for side in (ABOVE, BELOW):
        last = 1.0
        for step in side:
            if low <= step <= high and abs(math.log(step / last)) >= apart:
                ticks.append(last := step)
    return sorted(ticks)
