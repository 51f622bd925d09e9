"""What is answered per second over how many requests can be under way: the arithmetic as a line, the measurement as
points. Each is named at the right, at its height: where many answer all that is asked, points are too close for names.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, axis_for, colour, finish, scale_for, shape, values
from loadtests.report.charts.line_names import line_names
from loadtests.report.charts.palette import MUTED, Look

HEIGHT = 300


def spec(
    rows: list[dict[str, Any]], line: list[dict[str, Any]], looks: dict[str, Look], title: str, subtitle: list[str]
) -> dict[str, Any]:
    """Each row has label, at_once, value (per second) and text; ``line`` has at_once and value of the arithmetic."""
    both = [*rows, *line]
    x_scale = scale_for(row["at_once"] for row in both)
    y_scale = scale_for(row["value"] for row in both)
    x = alt.X("at_once:Q", title="requests that can be under way", scale=x_scale, axis=axis_for(x_scale))
    y = alt.Y("value:Q", title="answered well per second", scale=y_scale, axis=axis_for(y_scale))
    arithmetic = alt.Chart(values(line)).mark_line(color=MUTED, strokeWidth=1.6, strokeDash=[5, 4]).encode(x=x, y=y)
    base = alt.Chart(values(rows)).encode(x=x, y=y, color=colour(looks), description=alt.Description("text:N"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(shape=shape(looks))
    linear = y_scale.to_dict().get("type") != "log"
    least = y_scale.to_dict()["domain"][0]
    ends = [{**row, "value": max(row["value"], least)} for row in rows]  # nothing answered has no logarithm
    names = line_names(ends, "at_once", y_scale, HEIGHT, looks, *(() if linear else (math.log, math.exp)))
    chart = alt.layer(arithmetic, points, *names).properties(width=WIDTH, height=HEIGHT)
    return finish(chart, title, subtitle, looks)
