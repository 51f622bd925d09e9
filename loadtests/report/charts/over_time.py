"""Requests per second over time: a line for each setup, named at its end. One of the two charts of 2016.

More lines than a reader can follow are shared out over several panels, the fastest in the first."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, colour, finish, shape, values
from loadtests.report.charts.line_names import line_names
from loadtests.report.charts.palette import Look

HEIGHT = 320
LINES = 7  # in a panel: as many as there are colours


def spec(
    rows: list[dict[str, Any]], looks: dict[str, Look], seconds: float, many: str, subtitle: list[str]
) -> dict[str, Any]:
    """Lines with bands, over a measurement of that many seconds; those of neighbours in ``rows`` share a panel.

    Each row has label, t (s since the measurement began), value, low and high (per second) and text. ``many`` are what
    is counted: requests.
    """
    labels = list(dict.fromkeys(row["label"] for row in rows))
    panels = math.ceil(len(labels) / LINES)
    each = math.ceil(len(labels) / panels)
    shares = [labels[start : start + each] for start in range(0, len(labels), each)]
    drawn = [_panel([row for row in rows if row["label"] in share], looks, seconds, many) for share in shares]
    return finish(alt.vconcat(*drawn, spacing=16), f"{many.capitalize()} per second over time", subtitle, looks)


def _panel(rows: list[dict[str, Any]], looks: dict[str, Look], seconds: float, many: str) -> Any:
    top = max(row["high"] for row in rows) * 1.05 or 1.0
    x = alt.X(
        "t:Q",
        title="time since the measurement began, s",
        scale=alt.Scale(domain=[0, seconds], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1),
    )
    y_scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("value:Q", title=f"{many} answered per second", scale=y_scale, axis=alt.Axis(tickCount=6))
    dashes = alt.StrokeDash(
        "label:N",
        legend=None,
        scale=alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()]),
    )
    base = alt.Chart(values(rows)).encode(detail="label:N")
    whole = base.transform_calculate(said=f"datum.label + ': {many} per second'").encode(
        description=alt.Description("said:N")  # a line is one mark: it must not speak of its first second alone
    )
    band = whole.mark_area(opacity=0.15).encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q", color=colour(looks))
    lines = whole.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour(looks), strokeDash=dashes)
    points = base.mark_point(filled=True, size=28, opacity=1).encode(
        description=alt.Description("text:N"), x=x, y=y, color=colour(looks), shape=shape(looks)
    )
    layers = [band, lines, *([points] if seconds <= 30 else []), *line_names(rows, "t", y_scale, HEIGHT, looks)]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
