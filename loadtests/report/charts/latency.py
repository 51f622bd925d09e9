"""Draw a row for each setup with a figure, its interval and a note. Each percentile has its own panel of rows."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import MUTED
from loadtests.report.charts.shared import Looks, Rows

ROW = 19


def figure(rows: Rows, axis_title: str, title: str, subtitle: list[str], from_zero: bool = False) -> dict[str, Any]:
    """Draw one figure of each setup.

    The rows contain the kind of the setup, and the keys that ``interval_rows`` uses.
    """
    looks = shared.kinds(rows)
    rows = shared.clamp(rows, "value")
    numbers = shared.figures(rows, "value", "low", "high")
    # Counts may be 0, so their axis starts at 0.
    scale = shared.scale_from_zero(numbers) if from_zero else shared.scale_for(numbers)
    x = alt.X("value:Q", scale=scale, title=axis_title, axis=shared.axis_for(scale))
    drawn = interval_rows(rows, x, scale, looks, "kind")
    return shared.finish(drawn, title, subtitle, map(shared.name_of, rows))


def spec(rows: Rows, title: str, time: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw percentiles in ms, with a panel for each percentile.

    The rows contain the percentile, the kind of the setup, and the keys that ``interval_rows`` uses.
    """
    looks = shared.kinds(rows)
    rows = shared.clamp(rows, "value")
    scale = shared.scale_for(shared.figures(rows, "value", "low", "high"))
    keys, drawn = list(dict.fromkeys(row["percentile"] for row in rows)), []
    for key in keys:
        title_below = f"{time}, ms" if key == keys[-1] else None
        x = alt.X("value:Q", scale=scale, title=title_below, axis=shared.axis_for(scale))
        panel = interval_rows(shared.where(rows, percentile=key), x, scale, looks, "kind")
        drawn.append(panel.properties(title=shared.heading(key)))
    return shared.finish(shared.stacked(drawn), title, subtitle, map(shared.name_of, rows))


def interval_rows(rows: Rows, x: alt.X, scale: alt.Scale, looks: Looks, by: str = "label") -> Any:
    """Draw a row for each setup, with a point and an interval on the axis ``x``.

    Each row contains label, note and text, and also value, low and high if they are known.
    """
    base = shared.described(rows).encode(y=shared.label_axis(rows))
    measured = base.transform_filter("isValid(datum.value)")
    whiskers = measured.transform_filter("isValid(datum.high)")
    rules = shared.whiskers(whiskers, alt.X("low:Q", scale=scale), 2.5, looks, by)
    points = shared.points(measured.encode(x=x), 75, looks, by)
    end = "isValid(datum.high) ? datum.high : datum.value"
    layers = [rules, *shared.arrows(whiskers, scale, shared.colour(looks, by)), points, *notes(base, scale, end, 9)]
    return shared.panel(layers, ROW * len(rows))


def notes(base: alt.Chart, scale: alt.Scale, end: str, dx: int) -> list[alt.Chart]:
    """Draw the note of each row to the right of the position ``end``, or at the left edge if the row has no value."""
    return [
        base.transform_filter("isValid(datum.value)")
        .transform_calculate(end=end)
        .mark_text(align="left", dx=dx)
        .encode(x=alt.X("end:Q", scale=scale), text=alt.Text("note:N")),
        base.transform_filter("!isValid(datum.value)")
        .mark_text(align="left", color=MUTED, fontStyle="italic")
        .encode(x=alt.XValue(4), text=alt.Text("note:N")),
    ]
