"""Response time against rate up to the knee: a panel for each percentile, and below them each setup's capacity."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np

from loadtests.report.charts.base import (
    SEVERAL_DECADES,
    WIDTH,
    axis_for,
    clamp,
    colour,
    finish,
    scale_for,
    shape,
    values,
)
from loadtests.report.charts.interval_rows import interval_rows
from loadtests.report.charts.palette import INK, MUTED, PAPER, Look

HEIGHT = 210
OVER = 2.0  # a curve is drawn up to this many times the objective: what is over it is over it


def spec(
    rows: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    limits: dict[str, float],
    looks: dict[str, Look],
    words: tuple[str, str],
    title: str,
    subtitle: list[str],
) -> dict[str, Any]:
    """Curves and, on the same axis of rates, a row for each setup that is the curves' key as well.

    Each of ``rows`` has label, percentile, rate (per second), value (ms), passed and text; each of ``marks`` label,
    note and text, and where there is a capacity value, low and high. ``limits`` are the objective's, in ms. ``words``
    are what the times and the rates are of: response time, requests.
    """
    time, counts = words
    marks = clamp(marks, "value")
    rates = [row["rate"] for row in rows]
    scale = scale_for([*rates, *(row[key] for row in marks for key in ("value", "high") if row.get(key) is not None)])
    panels = [
        _panel(key, [row for row in rows if row["percentile"] == key], marks, limits, scale, looks, time)
        for key in dict.fromkeys(row["percentile"] for row in rows)
    ]
    x = alt.X("value:Q", scale=scale, axis=axis_for(scale, format=",~r"), title=f"{counts} per second")
    chart = alt.vconcat(*panels, interval_rows(marks, x, scale, looks), spacing=14)
    return finish(chart, title, subtitle, looks)


def _panel(
    key: str,
    rows: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    limits: dict[str, float],
    x_scale: alt.Scale,
    looks: dict[str, Look],
    time: str,
) -> Any:
    times = [row["value"] for row in rows]
    top = min(max(times) * 1.1, max(limits.values()) * OVER)
    if key in limits:
        top = max(top, limits[key] * 1.5)
    low = min(min(times) * 0.85, top / 2)
    y_scale = alt.Scale(type="log", domain=[low, top], nice=False)
    x = alt.X("rate:Q", scale=x_scale, axis=axis_for(x_scale, labels=False, ticks=False), title=None)
    y = alt.Y("value:Q", scale=y_scale, axis=_decades(low, top), title=f"{key} {time}, ms")
    dashes = alt.StrokeDash(
        "label:N",
        legend=None,
        scale=alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()]),
    )
    base = alt.Chart(values(rows)).encode(x=x, y=y, color=colour(looks))
    lines = (
        base.transform_calculate(said=f"datum.label + ': {key} against rate'")
        .mark_line(strokeWidth=1.8, clip=True)
        .encode(detail="label:N", strokeDash=dashes, description=alt.Description("said:N"))
    )
    points = base.encode(description=alt.Description("text:N"), shape=shape(looks))
    within = points.transform_filter("datum.passed").mark_point(filled=True, size=26, opacity=1, clip=True)
    over = points.transform_filter("!datum.passed").mark_point(
        size=26, opacity=1, strokeWidth=1.2, fill=PAPER, clip=True
    )
    found = alt.Chart(values(_on_curves(rows, marks))).encode(
        x=x, y=y, color=colour(looks), shape=shape(looks), description=alt.Description("text:N")
    )
    capacities = found.mark_point(filled=True, size=110, opacity=1, stroke=PAPER, strokeWidth=1.5, clip=True)
    objective = _objective(key, limits[key], y_scale) if key in limits else []
    return alt.layer(*objective, lines, within, over, capacities).properties(width=WIDTH, height=HEIGHT)


def _decades(low: float, high: float) -> alt.Axis:
    """Ticks at powers of ten, and at 2 and 5 times them where there is room."""
    steps = (1, 2, 5) if high / low < SEVERAL_DECADES else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    return alt.Axis(grid=True, values=ticks, format=",~r")


def _on_curves(rows: list[dict[str, Any]], marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where each capacity lies on its setup's curve, between the points as the line goes: straight on these axes."""
    found = []
    for mark in marks:
        curve = sorted((row["rate"], row["value"]) for row in rows if row["label"] == mark["label"])
        if curve and mark.get("value") is not None:
            rates, times = zip(*curve, strict=True)
            value = float(np.exp(np.interp(mark["value"], rates, np.log(times))))
            found.append({"label": mark["label"], "rate": mark["value"], "value": value, "text": mark["text"]})
    return found


def _objective(key: str, limit: float, y_scale: alt.Scale) -> list[Any]:
    line = alt.Chart(values([{"limit": limit, "said": f"objective: {key} < {limit:g} ms"}])).encode(
        y=alt.Y("limit:Q", scale=y_scale)
    )
    return [
        line.mark_rule(color=INK, strokeDash=[5, 3]).encode(description=alt.Description("said:N")),
        line.mark_text(align="left", dy=-7, color=MUTED).encode(x=alt.value(4), text="said:N"),
    ]
