"""The common parts of charts: a finished chart, scales, axes, and the encodings of a setup."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import altair as alt
from altair.utils import schemapi

from loadtests.report.charts.palette import KINDS, Look, config

Rows = list[dict[str, Any]]
Looks = dict[str, Look]

WIDTH = 520  # pixels of the plot; with labels about 700, which fits into a README without scaling
SEVERAL_DECADES = 20.0  # with a larger ratio of values, a linear axis would hide the small values
DRAWN_BEYOND = 3.0  # intervals are cut at this multiple of the outermost points, so that they don't hide the rest
STEPS = (1, 2, 5)  # the ticks of a decade

# Checking each part of a chart against Altair's schema is slow; tests check whole charts.
schemapi.disable_debug_mode()


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart: its file name, caption, content as text (``alt``), and specification.

    A page shows ``summary`` instead of a folded chart. The specification is created on demand, because it is slow, and
    the terminal doesn't need it.
    """

    name: str
    caption: str
    alt: str
    specify: Callable[[], dict[str, Any]]
    summary: str = ""

    @cached_property
    def spec(self) -> dict[str, Any]:
        return self.specify()


def finish(chart: Any, title: str, subtitle: Sequence[str], labels: Iterable[str]) -> dict[str, Any]:
    """Return the specification with title, common configuration, and margins for the longest label."""
    titled = chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))
    spec: dict[str, Any] = titled.to_dict(validate=False)
    spec["config"] = config(max(map(len, labels), default=0))
    return spec


def stacked(panels: Iterable[Any], spacing: int = 16) -> Any:
    return alt.vconcat(*panels, spacing=spacing)


def heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(text, anchor="start", frame="group", fontSize=12, offset=4)


def values(rows: Rows) -> alt.InlineData:
    """Return the rows as inline data, without pandas and with the same name in each rendering."""
    return alt.InlineData(values=rows)


def described(rows: Rows) -> alt.Chart:
    """Create a chart of rows. The rows' ``text`` describes their marks."""
    return alt.Chart(values(rows)).encode(description=alt.Description("text:N"))


def figures(rows: Rows, *keys: str) -> list[float]:
    """Return the known values of some keys."""
    return [row[key] for row in rows for key in keys if row.get(key) is not None]


def where(rows: Rows, **values: str) -> Rows:
    """Return the rows that have these values."""
    return [row for row in rows if values.items() <= row.items()]


def colour(looks: Looks, by: str = "label", **options: Any) -> alt.Color:
    scale = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    return alt.Color(f"{by}:N", scale=scale, **{"legend": _key(looks, by), **options})


def shape(looks: Looks, by: str = "label") -> alt.Shape:
    scale = alt.Scale(domain=list(looks), range=[look.shape for look in looks.values()])
    return alt.Shape(f"{by}:N", scale=scale, legend=_key(looks, by))


def _key(looks: Looks, by: str) -> alt.Legend | None:
    """Setups have names at their marks, and kinds have a key."""
    return alt.Legend(title=None, symbolOpacity=1) if by == "kind" and len(looks) > 1 else None


def kinds(rows: Rows) -> Looks:
    """Return the looks of the rows' kinds of setups."""
    found = {row["kind"] for row in rows}
    return {kind: look for kind, look in KINDS.items() if kind in found}


def dashes(looks: Looks) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()])
    return alt.StrokeDash("label:N", scale=scale, legend=None)


def points(rows: alt.Chart, size: int, looks: Looks, by: str = "label", **mark: Any) -> Any:
    filled = rows.mark_point(filled=True, size=size, opacity=1, **mark)
    return filled.encode(color=colour(looks, by), shape=shape(looks, by))


def named(rows: alt.Chart, about: str) -> Any:
    """Return the rows with descriptions of lines and areas: the label and ``about``."""
    # A line is one mark, so without a separate text it would have its first point's text.
    whole = rows.transform_calculate(line=f"datum.label + ': ' + {json.dumps(about)}")
    return whole.encode(description=alt.Description("line:N"))


def lines(rows: alt.Chart, about: str, width: float, looks: Looks, **mark: Any) -> Any:
    """Draw a line for each setup in its colour and pattern, described by its label and ``about``."""
    drawn = named(rows, about).mark_line(strokeWidth=width, **mark)
    return drawn.encode(color=colour(looks), strokeDash=dashes(looks))


def whiskers(rows: alt.Chart, along: alt.X | alt.Y, width: float, looks: Looks, by: str = "label", **mark: Any) -> Any:
    """Draw intervals from ``along`` to the rows' ``high`` on the same axis."""
    rules = rows.mark_rule(strokeWidth=width, **mark)
    ends = {"x": along, "x2": "high:Q"} if isinstance(along, alt.X) else {"y": along, "y2": "high:Q"}
    return rules.encode(color=colour(looks, by), **ends)


def panel(layers: Iterable[Any], height: int, **properties: Any) -> Any:
    return alt.layer(*layers).properties(width=WIDTH, height=height, **properties)


def label_axis(rows: Rows) -> alt.Y:
    named = {row["label"]: name_of(row) for row in rows if row.get("setup")}
    texts: dict[str, Any] = {"labelExpr": f"{json.dumps(named)}[datum.label] || datum.label"} if named else {}
    axis = alt.Axis(ticks=False, domain=False, labelPadding=8, **texts)
    return alt.Y("label:N", sort=[row["label"] for row in rows], title=None, axis=axis)


def name_of(row: dict[str, Any]) -> str:
    """Return a row's label, with its setup if the label doesn't show it."""
    return f"{row['label']} ({row['setup']})" if row.get("setup") else row["label"]


def clamp(rows: Rows, key: str) -> Rows:
    """Return the rows with intervals that are cut near the points ``key`` and marked as cut."""
    points = [value for value in figures(rows, key) if value > 0]
    if not points:
        return rows
    floor, ceiling = min(points) / DRAWN_BEYOND, max(points) * DRAWN_BEYOND
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


def arrows(base: alt.Chart, scale: alt.Scale, paint: Any, upright: bool = False, size: int = 60) -> list[alt.Chart]:
    axis, sides = (alt.Y, ("down", "up")) if upright else (alt.X, ("left", "right"))
    return [
        base.transform_filter(f"datum.cut_{end}")
        .mark_point(shape=f"triangle-{side}", filled=True, size=size, opacity=1)
        .encode(color=paint, **{axis.__name__.lower(): axis(f"{end}:Q", scale=scale)})
        for end, side in zip(("low", "high"), sides, strict=True)
    ]


def scale_for(numbers: Iterable[float]) -> alt.Scale:
    """Return a scale that starts at zero, or a logarithmic scale if the numbers span decades."""
    positive = [number for number in numbers if number > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    if high / low < SEVERAL_DECADES:
        return scale_from_zero(positive)
    return log_scale(_step_below(low), high * 1.1)


def scale_from_zero(numbers: Iterable[float]) -> alt.Scale:
    high = max((number for number in numbers if number > 0), default=0.0)
    return alt.Scale(domain=[0, high * 1.02], nice=False) if high else alt.Scale(domain=[0, 1])


def log_scale(low: float, high: float) -> alt.Scale:
    return alt.Scale(type="log", domain=[low, high], nice=False)


def log_axis(low: float, high: float, steps: Sequence[float] = STEPS, **options: Any) -> alt.Axis:
    """Return ticks at these steps of each decade, so that labels don't touch."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    return alt.Axis(grid=True, values=ticks, **options)


def axis_for(scale: alt.Scale, **options: Any) -> alt.Axis:
    """Return the axis of a scale of ``scale_for``."""
    settings = scale.to_dict()
    if settings.get("type") != "log":
        return alt.Axis(grid=True, tickCount=6, **options)
    return log_axis(*settings["domain"], **{"format": "~r", **options})


def _step_below(value: float) -> float:
    """Return the largest number of the form 1, 2 or 5 times a power of ten below the smallest point."""
    room = value * 0.95
    power = 10.0 ** math.floor(math.log10(room))
    return max((step * power for step in STEPS if step * power <= room), default=power)
