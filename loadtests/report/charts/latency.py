"""Response time percentiles by setup: a panel for each percentile, a row for each setup."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, arrows, axis_for, clamp, colour, finish, scale_for, shape, values
from loadtests.report.palette import MUTED, Look

ROW = 19


def spec(rows: list[dict[str, Any]], looks: dict[str, Look], time: str, subtitle: list[str]) -> dict[str, Any]:
    """Points with intervals; ``time`` says which time it is.

    Each row of ``rows`` has label, percentile, note (what is written beside the point) and text (what a reader who
    cannot see the point is told); where there is a figure also value, low and high, in ms.
    """
    rows = clamp(rows, "value")
    found = [row[key] for row in rows for key in ("value", "low", "high") if row.get(key) is not None]
    scale = scale_for(found)
    x = alt.X("value:Q", scale=scale, title=f"{time}, ms", axis=axis_for(scale))
    y = alt.Y("label:N", sort=list(looks), title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    base = alt.Chart().encode(y=y, description=alt.Description("text:N"))
    measured = base.transform_filter("isValid(datum.value)")
    rules = measured.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", color=colour(looks))
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
    chart = (
        alt.layer(rules, *arrows(measured, scale, colour(looks)), points, notes, missing, data=values(rows))
        .properties(width=WIDTH, height=ROW * len(looks))
        .facet(
            row=alt.Row(
                "percentile:N",
                sort=list(dict.fromkeys(row["percentile"] for row in rows)),
                header=alt.Header(title=None, labelAngle=0, labelOrient="top", labelAnchor="start", labelPadding=-10),
            ),
            spacing=22,
        )
    )
    return finish(chart, f"{time.capitalize()} by percentile", subtitle, looks)
