"""Response time over load: a line for each setup, named at its end, in a panel for each percentile.

More lines than a reader can follow are shared out over several panels, as they are over time."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, axis_for, clamp, colour, finish, heading, scale_for, shape, values
from loadtests.report.charts.line_names import line_names
from loadtests.report.charts.palette import Look

HEIGHT = 240
LINES = 7  # in a panel: as many as there are colours


def spec(
    rows: list[dict[str, Any]], looks: dict[str, Look], time: str, load: str, subtitle: list[str]
) -> dict[str, Any]:
    """Lines with intervals; those of neighbours in ``rows`` share a panel. ``time`` says which time it is, and ``load``
    over what: requests per second.

    Each row has label, percentile, load, value (ms) and text, and where it is known also low and high.
    """
    rows = clamp(rows, "value")
    x_scale = scale_for(row["load"] for row in rows)
    labels = list(dict.fromkeys(row["label"] for row in rows))
    each = math.ceil(len(labels) / math.ceil(len(labels) / LINES))
    shares = [labels[start : start + each] for start in range(0, len(labels), each)]
    panels = []
    for key in dict.fromkeys(row["percentile"] for row in rows):
        shown = [row for row in rows if row["percentile"] == key]
        ends = [row[end] for row in shown for end in ("value", "low", "high") if row.get(end) is not None]
        y_scale = alt.Scale(type="log", domain=[min(ends) * 0.85, max(ends) * 1.15], nice=False)
        parts = [[row for row in shown if row["label"] in share] for share in shares]
        panels += [_panel(key, part, x_scale, y_scale, looks, f"{key} {time}, ms", load) for part in parts if part]
    return finish(alt.vconcat(*panels, spacing=16), f"{time.capitalize()} over load", subtitle, looks)


def _panel(
    key: str,
    rows: list[dict[str, Any]],
    x_scale: alt.Scale,
    y_scale: alt.Scale,
    looks: dict[str, Look],
    title: str,
    load: str,
) -> Any:
    x = alt.X("load:Q", title=load, scale=x_scale, axis=axis_for(x_scale, format=",~r"))
    y = alt.Y("value:Q", title=title, scale=y_scale, axis=axis_for(y_scale))
    dashes = alt.StrokeDash(
        "label:N",
        legend=None,
        scale=alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()]),
    )
    base = alt.Chart(values(rows)).encode(detail="label:N", color=colour(looks))
    lines = (
        base.transform_calculate(said=f"datum.label + ': {key} over load'")
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, strokeDash=dashes, description=alt.Description("said:N"))
    )
    told = base.encode(x=x, description=alt.Description("text:N"))
    intervals = (
        told.transform_filter("isValid(datum.high)")
        .mark_rule(strokeWidth=1.2, opacity=0.5)
        .encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    )
    points = told.mark_point(filled=True, size=40, opacity=1).encode(y=y, shape=shape(looks))
    names = line_names(rows, "load", y_scale, HEIGHT, looks, math.log, math.exp)
    layers = [intervals, lines, points, *names]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=heading(key))
