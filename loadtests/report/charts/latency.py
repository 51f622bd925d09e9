"""A row for each setup with its figure, interval and a note; and percentiles as panels of such rows."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts.base import (
    WIDTH,
    Looks,
    Rows,
    arrows,
    axis_for,
    clamp,
    colour,
    described,
    figures,
    finish,
    heading,
    label_axis,
    scale_for,
    shape,
    stacked,
)
from loadtests.report.charts.palette import MUTED

ROW = 19


def spec(rows: Rows, looks: Looks, time: str, subtitle: list[str]) -> dict[str, Any]:
    """Rows as those of ``interval_rows``, with the percentile; values in ms."""
    rows = clamp(rows, "value")
    scale = scale_for(figures(rows, "value", "low", "high"))
    keys = list(dict.fromkeys(row["percentile"] for row in rows))
    panels = [
        interval_rows(
            [row for row in rows if row["percentile"] == key],
            alt.X("value:Q", scale=scale, title=f"{time}, ms" if key == keys[-1] else None, axis=axis_for(scale)),
            scale,
            looks,
        ).properties(title=heading(key))
        for key in keys
    ]
    return finish(stacked(panels), f"{time.capitalize()} by percentile", subtitle, looks)


def interval_rows(rows: Rows, x: alt.X, scale: alt.Scale, looks: Looks) -> Any:
    """Points with intervals on ``x``. Rows: label, note, text, and where known value, low and high."""
    base = described(rows).encode(y=label_axis([row["label"] for row in rows]))
    measured = base.transform_filter("isValid(datum.value)")
    whiskers = measured.transform_filter("isValid(datum.high)")
    low = alt.X("low:Q", scale=scale)
    rules = whiskers.mark_rule(strokeWidth=2.5).encode(x=low, x2="high:Q", color=colour(looks))
    points = measured.mark_point(filled=True, size=75, opacity=1).encode(x=x, color=colour(looks), shape=shape(looks))
    end = "isValid(datum.high) ? datum.high : datum.value"
    layers = [rules, *arrows(whiskers, scale, colour(looks)), points, *notes(base, scale, end, 9)]
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(rows))


def notes(base: alt.Chart, scale: alt.Scale, end: str, dx: int) -> list[alt.Chart]:
    """The rows' notes, after ``end`` of the interval; at the left where there is no value."""
    return [
        base.transform_filter("isValid(datum.value)")
        .transform_calculate(end=end)
        .mark_text(align="left", dx=dx)
        .encode(x=alt.X("end:Q", scale=scale), text="note:N"),
        base.transform_filter("!isValid(datum.value)")
        .mark_text(align="left", color=MUTED, fontStyle="italic")
        .encode(x=alt.value(4), text="note:N"),
    ]
