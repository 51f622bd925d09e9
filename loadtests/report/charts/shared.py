"""Build the common parts of charts: scales, axes, and the colours, shapes and lines of setups."""

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

WIDTH = 520  # width of the plot in pixels; with labels, a chart is about 700 pixels wide, which fits into a README
SEVERAL_DECADES = 20.0  # if the largest value is more than 20 times the smallest, a linear axis would hide small values
DRAWN_BEYOND = 3.0  # intervals are cut at this factor beyond the outermost points, so that the points stay apart
STEPS = (1, 2, 5)  # the ticks in each decade of a logarithmic axis

# It is slow to check each part of a chart against Altair's schema. The tests check whole charts instead.
schemapi.disable_debug_mode()


@dataclasses.dataclass(frozen=True)
class Chart:
    """A chart of a report.

    Attributes:
        name: The name of the file, without its extension.
        caption: The caption.
        alt: The content of the chart as text.
        specify: The function that creates the Vega-Lite specification. The function is slow, so it is called only if a
            report contains charts.
        summary: The text that a page shows until the reader opens the chart, or empty if the chart isn't folded.
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
    """Return the Vega-Lite specification of a chart, with a title, and with margins that fit the longest label."""
    titled = chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))
    spec: dict[str, Any] = titled.to_dict(validate=False)
    spec["config"] = config(max(map(len, labels), default=0))
    return spec


def stacked(panels: Iterable[Any], spacing: int = 16) -> Any:
    return alt.vconcat(*panels, spacing=spacing)


def heading(text: str) -> alt.TitleParams:
    return alt.TitleParams(text, anchor="start", frame="group", fontSize=12, offset=4)


def values(rows: Rows) -> alt.InlineData:
    """Return the rows as inline data, which doesn't need pandas and is the same in each rendering."""
    return alt.InlineData(values=rows)


class RowChart(alt.Chart):
    """A chart whose copies share their parts.

    Altair copies all charts several times when it combines them, but it only changes the fields of the copies
    themselves. So deep copies would only take time.
    """

    def __deepcopy__(self, memo: object) -> RowChart:
        return self.copy(deep=False)


def chart_of(rows: Rows) -> RowChart:
    return RowChart(values(rows))


def described(rows: Rows) -> alt.Chart:
    """Create a chart of rows. The ``text`` of each row becomes the description of its mark."""
    return chart_of(rows).encode(description=alt.Description("text:N"))


def figures(rows: Rows, *keys: str) -> list[float]:
    """Return the values of these keys in all rows, without missing values."""
    return [row[key] for row in rows for key in keys if row.get(key) is not None]


def where(rows: Rows, **values: str) -> Rows:
    """Return the rows that contain all of these values."""
    return [row for row in rows if values.items() <= row.items()]


def colour(looks: Looks, by: str = "label", **options: Any) -> alt.Color:
    scale = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    return alt.Color(f"{by}:N", scale=scale, **{"legend": _key(looks, by), **options})


def shape(looks: Looks, by: str = "label") -> alt.Shape:
    scale = alt.Scale(domain=list(looks), range=[look.shape for look in looks.values()])
    return alt.Shape(f"{by}:N", scale=scale, legend=_key(looks, by))


def _key(looks: Looks, by: str) -> alt.Legend | None:
    """Return a legend for several kinds of setups. Setups need no legend, because their names are at their marks."""
    return alt.Legend(title=None, symbolOpacity=1) if by == "kind" and len(looks) > 1 else None


def kinds(rows: Rows) -> Looks:
    """Return the looks of the kinds of setups, such as WSGI, that occur in the rows."""
    found = {row["kind"] for row in rows}
    return {kind: look for kind, look in KINDS.items() if kind in found}


def dashes(looks: Looks) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()])
    return alt.StrokeDash("label:N", scale=scale, legend=None)


def points(rows: alt.Chart, size: int, looks: Looks, by: str = "label", **mark: Any) -> Any:
    filled = rows.mark_point(filled=True, size=size, opacity=1, **mark)
    return filled.encode(color=colour(looks, by), shape=shape(looks, by))


def named(rows: alt.Chart, about: str) -> Any:
    """Describe each line or area of a chart with its label and ``about``."""
    # A line is a single mark. Without a separate description, the line would have the description of its first point.
    whole = rows.transform_calculate(line=f"datum.label + ': ' + {json.dumps(about)}")
    return whole.encode(description=alt.Description("line:N"))


def lines(rows: alt.Chart, about: str, width: float, looks: Looks, **mark: Any) -> Any:
    """Draw a line for each setup in the setup's colour and pattern. The label and ``about`` describe the line."""
    drawn = named(rows, about).mark_line(strokeWidth=width, **mark)
    return drawn.encode(color=colour(looks), strokeDash=dashes(looks))


def whiskers(rows: alt.Chart, along: alt.X | alt.Y, width: float, looks: Looks, by: str = "label", **mark: Any) -> Any:
    """Draw an interval for each row, from the lower end in ``along`` to the row's ``high`` on the same axis."""
    rules = rows.mark_rule(strokeWidth=width, **mark)
    ends = {"x": along, "x2": alt.X2("high:Q")} if isinstance(along, alt.X) else {"y": along, "y2": alt.Y2("high:Q")}
    return rules.encode(color=colour(looks, by), **ends)


def panel(layers: Iterable[Any], height: int, **properties: Any) -> Any:
    return alt.layer(*layers).properties(width=WIDTH, height=height, **properties)


def label_axis(rows: Rows) -> alt.Y:
    named = {row["label"]: name_of(row) for row in rows if row.get("setup")}
    texts: dict[str, Any] = {"labelExpr": f"{json.dumps(named)}[datum.label] || datum.label"} if named else {}
    axis = alt.Axis(ticks=False, domain=False, labelPadding=8, **texts)
    return alt.Y("label:N", sort=[row["label"] for row in rows], title=None, axis=axis)


def name_of(row: dict[str, Any]) -> str:
    """Return a row's label, and the name of its setup in brackets if the label doesn't contain the name."""
    return f"{row['label']} ({row['setup']})" if row.get("setup") else row["label"]


def clamp(rows: Rows, key: str) -> Rows:
    """Cut intervals that extend far beyond the values of ``key``, and mark the rows whose intervals are cut."""
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
    """Return a scale that starts at zero, or a logarithmic scale if the numbers span SEVERAL_DECADES or more."""
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
    """Return a logarithmic axis with ticks at ``steps`` of each decade, so that the labels don't overlap."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    return alt.Axis(grid=True, values=ticks, **options)


def axis_for(scale: alt.Scale, **options: Any) -> alt.Axis:
    """Return an axis for a scale that ``scale_for`` has returned."""
    settings = scale.to_dict()
    if settings.get("type") != "log":
        return alt.Axis(grid=True, tickCount=6, **options)
    return log_axis(*settings["domain"], **{"format": "~r", **options})


def _step_below(value: float) -> float:
    """Return the largest tick (1, 2 or 5 times a power of ten) that is at least 5% below the value."""
    room = value * 0.95
    power = 10.0 ** math.floor(math.log10(room))
    return max((step * power for step in STEPS if step * power <= room), default=power)
