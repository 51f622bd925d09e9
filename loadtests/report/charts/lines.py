"""Draw lines over load, over time or next to a calculated ceiling, with the setups' names at the ends of the lines."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import MUTED
from loadtests.report.charts.shared import WIDTH, Looks, Rows

LINES = 7  # maximum number of lines in a panel, one for each colour
NAME_HEIGHT = 14.0  # height of a setup's name in pixels


def over_load(rows: Rows, looks: Looks, time: str, load: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw the response time over load, with a panel for each percentile.

    Each row contains label, percentile, load, value (ms) and text, and also low and high if they are known.
    """
    rows = shared.clamp(rows, "value")
    x_scale = shared.scale_for(row["load"] for row in rows)
    x = alt.X("load:Q", title=load, scale=x_scale, axis=shared.axis_for(x_scale, format=",~r"))
    panels = []
    for key in dict.fromkeys(row["percentile"] for row in rows):
        shown = shared.where(rows, percentile=key)
        ends = shared.figures(shown, "value", "low", "high")
        y_scale = shared.log_scale(min(ends) * 0.85, max(ends) * 1.15)
        y = alt.Y("value:Q", title=f"{key} {time}, ms", scale=y_scale, axis=shared.axis_for(y_scale))
        for group in _groups(rows):
            if part := [row for row in shown if row["label"] in group]:
                panels.append(_load_panel(key, part, x, y, y_scale, looks))
    return shared.finish(shared.stacked(panels), f"{time.capitalize()} over load", subtitle, looks)


def _load_panel(key: str, rows: Rows, x: alt.X, y: alt.Y, y_scale: alt.Scale, looks: Looks) -> Any:
    base = shared.chart_of(rows).encode(detail=alt.Detail("label:N"), x=x)
    lines = shared.lines(base.encode(y=y), f"{key} over load", 2, looks)
    marks = base.encode(description=alt.Description("text:N"))
    known = marks.transform_filter("isValid(datum.high)")
    intervals = shared.whiskers(known, alt.Y("low:Q", scale=y_scale), 1.2, looks, opacity=0.5)
    points = shared.points(marks.encode(y=y), 40, looks)
    layers = [intervals, lines, points, *_names(rows, "load", y_scale, 240, looks)]
    return shared.panel(layers, 240, title=shared.heading(key))


def over_time(rows: Rows, looks: Looks, seconds: float, many: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw rates over time with bands, like one of the two charts of the 2016 benchmark.

    ``many`` is the counted unit, such as requests. Each row contains label, t (in seconds since the start of the
    measurement), value, low and high (per second) and text.
    """
    parts = [[row for row in rows if row["label"] in group] for group in _groups(rows)]
    panels = [_time_panel(part, looks, seconds, many) for part in parts]
    return shared.finish(shared.stacked(panels), f"{many.capitalize()} per second over time", subtitle, looks)


def _time_panel(rows: Rows, looks: Looks, seconds: float, many: str) -> Any:
    y_scale = alt.Scale(domain=[0, max(shared.figures(rows, "high")) * 1.05 or 1.0], nice=False)
    x = alt.X(
        "t:Q",
        title="time since the start of the measurement, s",
        scale=alt.Scale(domain=[0, seconds], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1),
    )
    y = alt.Y("value:Q", title=f"{many} answered per second", scale=y_scale, axis=alt.Axis(tickCount=6))
    base = shared.chart_of(rows).encode(detail=alt.Detail("label:N"), x=x)
    lines = shared.lines(base.encode(y=y), f"{many} per second", 2, looks)
    whole = shared.named(base, f"{many} per second").mark_area(opacity=0.15)
    band = whole.encode(y=alt.Y("low:Q", scale=y_scale), y2=alt.Y2("high:Q"), color=shared.colour(looks))
    points = shared.points(base.encode(description=alt.Description("text:N"), y=y), 28, looks)
    layers = [band, lines, *([points] if seconds <= 30 else []), *_names(rows, "t", y_scale, 320, looks)]
    return shared.panel(layers, 320)


def ceiling(rows: Rows, line: Rows, looks: Looks, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw measured rates as points over the number of concurrent requests, and the calculated ceiling as a line.

    Each row contains label, concurrency, value (per second) and text. Each row of ``line`` contains concurrency and
    value.
    """
    x_scale, y_scale = (shared.scale_for(shared.figures([*rows, *line], key)) for key in ("concurrency", "value"))
    x = alt.X("concurrency:Q", title="requests that can be in flight", scale=x_scale, axis=shared.axis_for(x_scale))
    y = alt.Y("value:Q", title="successful requests per second", scale=y_scale, axis=shared.axis_for(y_scale))
    arithmetic = shared.chart_of(line).mark_line(color=MUTED, strokeWidth=1.6, strokeDash=[5, 4]).encode(x=x, y=y)
    points = shared.points(shared.described(rows).encode(x=x, y=y), 70, looks)
    least = y_scale.to_dict()["domain"][0]
    ends = [{**row, "value": max(row["value"], least)} for row in rows]  # a logarithmic axis can't show 0
    layers = [arithmetic, points, *_names(ends, "concurrency", y_scale, 300, looks)]
    return shared.finish(shared.panel(layers, 300), title, subtitle, looks)


def _groups(rows: Rows) -> list[list[str]]:
    """Divide the labels into groups, so that no panel contains more than LINES lines. Similar lines share a panel."""
    labels = list(dict.fromkeys(row["label"] for row in rows))
    each = math.ceil(len(labels) / math.ceil(len(labels) / LINES))
    return [labels[start : start + each] for start in range(0, len(labels), each)]


def _names(rows: Rows, along: str, y_scale: alt.Scale, height: float, looks: Looks) -> list[alt.Chart]:
    """Draw the setups' names to the right of the plot, near the ends of their lines but without overlaps."""
    log = y_scale.to_dict().get("type") == "log"
    to_linear, from_linear = (math.log, math.exp) if log else (float, float)
    last = {row["label"]: row for row in sorted(rows, key=lambda row: float(row[along]))}
    ends = sorted(last.values(), key=lambda row: (float(row["value"]), str(row["label"])))
    bottom, top = map(to_linear, y_scale.to_dict()["domain"])
    gap = min(NAME_HEIGHT / height, 1 / max(1, len(ends))) * (top - bottom)
    heights = _spread([to_linear(float(row["value"])) for row in ends], gap, bottom, top)
    names = [
        {"label": row["label"], "value": row["value"], "name_y": from_linear(y), "text": f"{row['label']}: its line"}
        for row, y in zip(ends, heights, strict=True)
    ]
    base = shared.described(names)
    level = alt.Y("name_y:Q", scale=y_scale)
    leaders = base.mark_rule(strokeWidth=1).encode(
        x=alt.XValue(WIDTH + 3), x2=alt.X2Value(WIDTH + 16), y2=alt.Y2("name_y:Q")
    )
    leaders = leaders.encode(y=alt.Y("value:Q", scale=y_scale), color=shared.colour(looks))
    marks = shared.points(base.encode(x=alt.XValue(WIDTH + 22), y=level), 45, looks)
    texts = base.mark_text(align="left", baseline="middle", fontSize=12)
    return [leaders, marks, texts.encode(x=alt.XValue(WIDTH + 30), y=level, text=alt.Text("label:N"))]


def _spread(ends: list[float], gap: float, bottom: float, top: float) -> list[float]:
    """Return a height near each of the sorted ``ends``. Heights are at least ``gap`` apart and not above ``top``."""
    heights: list[float] = []
    for end in ends:
        heights.append(max(end, heights[-1] + gap if heights else bottom))
    ceiling = top
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], ceiling)
        ceiling = heights[place] - gap
    return heights
