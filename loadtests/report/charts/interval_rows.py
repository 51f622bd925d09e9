"""A row for each setup with its figure, the interval and a note: what several charts are made of."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, arrows, colour, shape, values
from loadtests.report.charts.palette import MUTED, Look

ROW = 19


def interval_rows(rows: list[dict[str, Any]], x: alt.X, scale: alt.Scale, looks: dict[str, Look]) -> Any:
    """A chart of ``rows`` in their order, on ``x``, the axis of their ``value``, and its scale.

    Each row has label, note (what is written beside the point) and text (what a reader who cannot see the point is
    told); where there is a figure also value, low and high.
    """
    labels = [row["label"] for row in rows]
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    base = alt.Chart(values(rows)).encode(y=y, description=alt.Description("text:N"))
    measured = base.transform_filter("isValid(datum.value)")
    whiskers = measured.transform_filter("isValid(datum.high)")
    low = alt.X("low:Q", scale=scale)
    rules = whiskers.mark_rule(strokeWidth=2.5).encode(x=low, x2="high:Q", color=colour(looks))
    points = measured.mark_point(filled=True, size=75, opacity=1).encode(x=x, color=colour(looks), shape=shape(looks))
    notes = (
        measured.transform_calculate(end="isValid(datum.high) ? datum.high : datum.value")
        .mark_text(align="left", dx=9)
        .encode(x=alt.X("end:Q", scale=scale), text="note:N")
    )
    missing = (
        base.transform_filter("!isValid(datum.value)")
        .mark_text(align="left", color=MUTED, fontStyle="italic")
        .encode(x=alt.value(4), text="note:N")
    )
    layers = [rules, *arrows(whiskers, scale, colour(looks)), points, notes, missing]
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(labels))
