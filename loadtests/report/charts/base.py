"""What the charts share: a finished chart, and the encodings every one of them uses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import altair as alt
from altair.utils import schemapi

from loadtests.report.charts.palette import Look, config

WIDTH = 520  # of the plot; with labels about 700, which fits a README column unscaled
SEVERAL_DECADES = 20.0  # largest over smallest from which a linear axis would flatten the small ones

# Altair would hold each part of a chart against the schema as it is made, which takes long: the tests do that with
# whole charts.
schemapi.disable_debug_mode()


@dataclasses.dataclass(frozen=True)
class Chart:
    """One chart: the name of its files, its caption, what it says in words and numbers, and what specifies it; and, for
    one of many, the ``summary`` that a page shows in its place until it is asked for.

    The specification is made when it is asked for: it takes longer than all else of a page, and words need none.
    """

    name: str
    caption: str
    alt: str
    specify: Callable[[], dict[str, Any]]
    summary: str = ""

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification, as Vega-Lite has it."""
        return self.specify()


def finish(chart: Any, title: str, subtitle: Sequence[str], labels: Iterable[str]) -> dict[str, Any]:
    """The specification with title and the common configuration, and room beside the longest label."""
    titled = chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))
    spec: dict[str, Any] = titled.to_dict(validate=False)
    spec["config"] = config(max(map(len, labels), default=0))
    return spec


def heading(text: str) -> alt.TitleParams:
    """What stands over one of several panels."""
    return alt.TitleParams(text, anchor="start", frame="group", fontSize=12, offset=4)


def values(rows: list[dict[str, Any]]) -> alt.InlineData:
    """The rows as inline data: no pandas, no name that changes from one rendering to the next."""
    return alt.InlineData(values=rows)


def colour(looks: dict[str, Look], **options: Any) -> alt.Color:
    """Colour by setup."""
    scale = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    return alt.Color("label:N", scale=scale, **{"legend": None, **options})


def shape(looks: dict[str, Look]) -> alt.Shape:
    """Shape by setup."""
    scale = alt.Scale(domain=list(looks), range=[look.shape for look in looks.values()])
    return alt.Shape("label:N", scale=scale, legend=None)


REACH = 3.0  # an interval is drawn up to this many times the outermost points: a vast one must not flatten the rest


def clamp(rows: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """The rows with intervals cut where they leave the neighbourhood of the points ``key``, and marked as cut."""
    points = [row[key] for row in rows if row.get(key) is not None and row[key] > 0]
    if not points:
        return rows
    floor, ceiling = min(points) / REACH, max(points) * REACH
    return [
        {
            **row,
            "low": max(row["low"], floor),
            "high": min(row["high"], ceiling),
            "cut_low": row["low"] < floor,
            "cut_high": row["high"] > ceiling,
        }
        if row.get("low") is not None and row.get("high") is not None
        else row
        for row in rows
    ]


def arrows(base: alt.Chart, scale: alt.Scale, paint: alt.Color | alt.ColorValue) -> list[alt.Chart]:
    """Where an interval was cut: it goes on that way."""
    return [
        base.transform_filter(f"datum.cut_{end}")
        .mark_point(shape=f"triangle-{side}", filled=True, size=60, opacity=1)
        .encode(x=alt.X(f"{end}:Q", scale=scale), color=paint)
        for end, side in (("low", "left"), ("high", "right"))
    ]


def scale_for(numbers: Iterable[float]) -> alt.Scale:
    """From zero, but logarithmic where the numbers span decades."""
    positive = [number for number in numbers if number > 0]
    if not positive:
        return alt.Scale(domain=[0, 1])
    low, high = min(positive), max(positive)
    if high / low < SEVERAL_DECADES:
        return alt.Scale(domain=[0, high * 1.02], nice=False)
    return alt.Scale(type="log", domain=[_step_below(low), high * 1.1], nice=False)


def axis_for(scale: alt.Scale, **options: Any) -> alt.Axis:
    """The axis of such a scale: on a logarithmic one a tick at 1, 2 and 5 of each decade, so labels never touch."""
    settings = scale.to_dict()
    if settings.get("type") != "log":
        return alt.Axis(grid=True, tickCount=6, **options)
    low, high = settings["domain"]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5) if low <= step * 10.0**power <= high]
    return alt.Axis(grid=True, values=ticks, **{"format": "~r", **options})


def _step_below(value: float) -> float:
    """The greatest of 1, 2 and 5 times a power of ten that leaves the smallest point off the edge."""
    room = value * 0.95
    power = 10.0 ** math.floor(math.log10(room))
    return max((step * power for step in (1, 2, 5) if step * power <= room), default=power)
