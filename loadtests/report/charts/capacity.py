"""Draw response time over rate, up to the knee at which the times rise steeply.

Each percentile has its own panel. Below the panels, a row for each setup shows the setup's capacity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np

from loadtests.report.charts import shared
from loadtests.report.charts.latency import interval_rows
from loadtests.report.charts.palette import INK, MUTED, PAPER
from loadtests.report.charts.shared import Looks, Rows

HEIGHT = 210
OVER = 2.0  # the axis of times ends at this multiple of the objective, even if a curve continues


@dataclass(frozen=True)
class Curves:
    """The data for a chart of capacities.

    Attributes:
        rows: The points of the curves, with label, percentile, rate (per second), value (ms), passed and text.
        marks: The capacities, with label, note and text, and also value, low and high if they are known.
        limits: The limits of the objective in ms, by percentile.
        time: The name of the measured time, such as response time.
        counts: The unit of the rates (per second), such as requests.
    """

    rows: Rows
    marks: Rows
    limits: dict[str, float]
    time: str
    counts: str


def spec(curves: Curves, looks: Looks, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw the curves, and below them a row for each setup, which shows its capacity and serves as the legend."""
    curves = replace(curves, marks=shared.clamp(curves.marks, "value"))
    rates = [*shared.figures(curves.rows, "rate"), *shared.figures(curves.marks, "value", "high")]
    scale = shared.scale_for(rates)
    panels = [_panel(curves, key, scale, looks) for key in dict.fromkeys(row["percentile"] for row in curves.rows)]
    x = alt.X("value:Q", scale=scale, axis=shared.axis_for(scale, format=",~r"), title=f"{curves.counts} per second")
    drawn = [*panels, interval_rows(curves.marks, x, scale, looks)]
    return shared.finish(shared.stacked(drawn, 14), title, subtitle, looks)


def _panel(curves: Curves, key: str, x_scale: alt.Scale, looks: Looks) -> Any:
    rows, limits = shared.where(curves.rows, percentile=key), curves.limits
    times = shared.figures(rows, "value")
    top = min(max(times) * 1.1, max(limits.values()) * OVER)
    if key in limits:
        top = max(top, limits[key] * 1.5)
    low = min(min(times) * 0.85, top / 2)
    y_scale = shared.log_scale(low, top)
    steps = shared.STEPS if top / low < shared.SEVERAL_DECADES else (1,)
    x = alt.X("rate:Q", scale=x_scale, axis=shared.axis_for(x_scale, labels=False, ticks=False), title=None)
    y = alt.Y(
        "value:Q", scale=y_scale, axis=shared.log_axis(low, top, steps, format=",~r"), title=f"{key} {curves.time}, ms"
    )
    base = shared.chart_of(rows).encode(x=x, y=y, color=shared.colour(looks))
    lines = shared.lines(base.encode(detail=alt.Detail("label:N")), f"{key} against rate", 1.8, looks, clip=True)
    points = base.encode(description=alt.Description("text:N"), shape=shared.shape(looks))
    within = points.transform_filter("datum.passed").mark_point(filled=True, size=26, opacity=1, clip=True)
    hollow: dict[str, Any] = {"size": 26, "opacity": 1, "strokeWidth": 1.2, "fill": PAPER, "clip": True}
    over = points.transform_filter("!datum.passed").mark_point(**hollow)
    found = shared.described(_on_curves(rows, curves.marks)).encode(x=x, y=y)
    capacities = shared.points(found, 110, looks, stroke=PAPER, strokeWidth=1.5, clip=True)
    objective = _objective(key, limits[key], y_scale) if key in limits else []
    return shared.panel([*objective, lines, within, over, capacities], HEIGHT)


def _on_curves(rows: Rows, marks: Rows) -> Rows:
    """Return the point of each capacity on its setup's curve, interpolated between the logarithms of the times."""
    found = []
    for mark in marks:
        curve = sorted((row["rate"], row["value"]) for row in rows if row["label"] == mark["label"])
        if curve and mark.get("value") is not None:
            rates, times = zip(*curve, strict=True)
            value = float(np.exp(np.interp(mark["value"], rates, np.log(times))))
            found.append({"label": mark["label"], "rate": mark["value"], "value": value, "text": mark["text"]})
    return found


def _objective(key: str, limit: float, y_scale: alt.Scale) -> list[Any]:
    line = shared.chart_of([{"limit": limit, "text": f"objective: {key} < {limit:g} ms"}]).encode(
        y=alt.Y("limit:Q", scale=y_scale)
    )
    return [
        line.mark_rule(color=INK, strokeDash=[5, 3]).encode(description=alt.Description("text:N")),
        line.mark_text(align="left", dy=-7, color=MUTED).encode(x=alt.XValue(4), text=alt.Text("text:N")),
    ]
