"""A row for each setup with its figure, interval and a note; and percentiles as panels of such rows."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import MUTED
from loadtests.report.charts.shared import Looks, Rows

ROW = 19


def spec(rows: Rows, looks: Looks, time: str, subtitle: list[str]) -> dict[str, Any]:
    """Rows as those of ``interval_rows``, with the percentile; values in ms."""
    rows = shared.clamp(rows, "value")
    scale = shared.scale_for(shared.figures(rows, "value", "low", "high"))
    keys = list(dict.fromkeys(row["percentile"] for row in rows))
    panels = [
        interval_rows(
            [row for row in rows if row["percentile"] == key],
            alt.X(
                "value:Q", scale=scale, title=f"{time}, ms" if key == keys[-1] else None, axis=shared.axis_for(scale)
            ),
            scale,
            looks,
        ).properties(title=shared.heading(key))
        for key in keys
    ]
    return shared.finish(shared.stacked(panels), f"{time.capitalize()} by percentile", subtitle, looks)


def interval_rows(rows: Rows, x: alt.X, scale: alt.Scale, looks: Looks) -> Any:
    """Points with intervals on ``x``. Rows: label, note, text, and where known value, low and high."""
    base = shared.described(rows).encode(y=shared.label_axis([row["label"] for row in rows]))
    measured = base.transform_filter("isValid(datum.value)")
    whiskers = measured.transform_filter("isValid(datum.high)")
    rules = shared.whiskers(whiskers, alt.X("low:Q", scale=scale), 2.5, looks)
    points = shared.points(measured.encode(x=x), 75, looks)
    end = "isValid(datum.high) ? datum.high : datum.value"
    layers = [rules, *shared.arrows(whiskers, scale, shared.colour(looks)), points, *notes(base, scale, end, 9)]
    return shared.panel(layers, ROW * len(rows))


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
