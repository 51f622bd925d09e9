"""The names of lines at the right of a chart, each beside the end of its line and none on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, colour, shape, values
from loadtests.report.charts.palette import Look

NAME_HEIGHT = 14.0  # of a name, in pixels


def line_names(
    rows: list[dict[str, Any]],
    along: str,
    y_scale: alt.Scale,
    height: float,
    looks: dict[str, Look],
    place: Callable[[float], float] = float,
    value: Callable[[float], float] = float,
) -> list[alt.Chart]:
    """The layers that name the lines of ``rows``, which have label, value and what they go ``along``.

    ``y_scale`` has a domain and is ``height`` pixels high. ``place`` takes a value to what is linear in pixels, and
    ``value`` takes that back: logarithm and exponential where the scale is logarithmic.
    """
    last = {row["label"]: row for row in sorted(rows, key=lambda row: float(row[along]))}
    ends = sorted(last.values(), key=lambda row: (float(row["value"]), str(row["label"])))
    bottom, top = map(place, y_scale.to_dict()["domain"])
    gap = min(NAME_HEIGHT / height, 1 / max(1, len(ends))) * (top - bottom)
    heights = _apart([place(float(row["value"])) for row in ends], gap, bottom, top)
    names = [
        {"label": row["label"], "value": row["value"], "name_y": value(high), "text": f"{row['label']}: its line"}
        for row, high in zip(ends, heights, strict=True)
    ]
    base = alt.Chart(values(names)).encode(description=alt.Description("text:N"))
    level = alt.Y("name_y:Q", scale=y_scale)
    leaders = base.mark_rule(strokeWidth=1).encode(
        x=alt.value(WIDTH + 3),
        x2=alt.value(WIDTH + 16),
        y=alt.Y("value:Q", scale=y_scale),
        y2="name_y:Q",
        color=colour(looks),
    )
    marks = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=alt.value(WIDTH + 22), y=level, color=colour(looks), shape=shape(looks)
    )
    texts = base.mark_text(align="left", baseline="middle", fontSize=12).encode(
        x=alt.value(WIDTH + 30), y=level, text="label:N"
    )
    return [leaders, marks, texts]


def _apart(ends: list[float], gap: float, bottom: float, top: float) -> list[float]:
    """The heights of names beside ``ends``, which are in order: at least ``gap`` from each other and below the top."""
    heights: list[float] = []
    for end in ends:
        heights.append(max(end, heights[-1] + gap if heights else bottom))
    ceiling = top
    for place in reversed(range(len(heights))):  # push down again what was pushed over the top
        heights[place] = min(heights[place], ceiling)
        ceiling = heights[place] - gap
    return heights
