"""Build the common parts of charts: scales, axes, and the colours, shapes and lines of setups.

Rows that lack a value have no mark. A scale ends at most DRAWN_BEYOND times beyond the outermost values, so that long
intervals don't push the points together. Longer intervals end at the edge of the chart.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import altair as alt
from altair.utils import schemapi

from loadtests.report.charts.palette import CONFIG, KINDS, Look

Rows = list[dict[str, Any]]
Looks = dict[str, Look]

WIDTH = 520  # width of the plot in pixels; with labels, a chart is about 700 pixels wide, which fits into a README
SEVERAL_DECADES = 20.0  # if the largest value is more than 20 times the smallest, a linear axis would hide small values
DRAWN_BEYOND = 3.0
SEVERAL_STEPS = 8.0  # if a scale ends beyond this multiple of its start, its ticks are 1, 2 and 5 times powers of ten
MANY_STEPS = 1000.0  # beyond this multiple, its ticks are powers of ten

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


def finish(chart: Any, title: str, subtitle: Sequence[str]) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart with a title."""
    titled = chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))
    spec: dict[str, Any] = titled.to_dict(validate=False)
    spec["config"] = CONFIG
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


def grouped(rows: Rows, key: str) -> dict[str, Rows]:
    """Return the rows by their value of ``key``."""
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(row.get(key, ""), []).append(row)
    return found


def colour(looks: Looks, by: str = "label", legend: alt.Legend | None = None) -> alt.Color:
    scale = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    return alt.Color(f"{by}:N", scale=scale, legend=legend)


def kinds(rows: Rows) -> Looks:
    """Return the looks of the kinds of setups, such as WSGI, that occur in the rows."""
    found = {row["kind"] for row in rows}
    return {kind: look for kind, look in KINDS.items() if kind in found}


def points(rows: alt.Chart, size: int, looks: Looks, by: str = "label", legend: alt.Legend | None = None) -> Any:
    filled = rows.mark_point(filled=True, size=size, opacity=1)
    scale = alt.Scale(domain=list(looks), range=[look.shape for look in looks.values()])
    return filled.encode(color=colour(looks, by, legend), shape=alt.Shape(f"{by}:N", scale=scale, legend=legend))


def name_of(row: dict[str, Any]) -> str:
    """Return a row's label, and the name of its setup in brackets if the label doesn't contain the name."""
    return f"{row['label']} ({row['setup']})" if row.get("setup") else row["label"]


def label_axis(rows: Rows) -> alt.Y:
    named = {row["label"]: name_of(row) for row in rows if row.get("setup")}
    texts: dict[str, Any] = {"labelExpr": f"{json.dumps(named)}[datum.label] || datum.label"} if named else {}
    axis = alt.Axis(ticks=False, domain=False, labelPadding=8, **texts)
    return alt.Y("label:N", sort=[row["label"] for row in rows], title=None, axis=axis)


def scale_for(rows: Rows, key: str = "value", kind: str = "") -> alt.Scale:
    """Return a scale for the values of ``key`` and their intervals.

    Args:
        rows: The rows.
        key: The key of the values. Intervals are in ``low`` and ``high``.
        kind: ``linear`` (from zero) or ``log``. The default is logarithmic only for values of SEVERAL_DECADES.
    """
    found = [value for value in figures(rows, key) if value > 0] or [1.0]
    ends = [*found, *(figures(rows, "low", "high") if key == "value" else [])]
    low, high = max(min(ends), min(found) / DRAWN_BEYOND), min(max(ends), max(found) * DRAWN_BEYOND)
    if kind == "log" or (not kind and high / low >= SEVERAL_DECADES):
        return log_scale(low * 0.85, high * 1.15)
    return alt.Scale(domain=[0, high * 1.02], nice=False, clamp=True)


def log_scale(low: float, high: float, clamp: bool = True) -> alt.Scale:
    return alt.Scale(type="log", domain=[low, high], nice=False, clamp=clamp)


def axis(scale: alt.Scale, title: str | None = None, **options: Any) -> dict[str, Any]:
    """Return the arguments of a position channel: the scale and an axis, with few ticks if the scale is logarithmic."""
    low, high = scale["domain"]
    few: dict[str, Any] = {"tickCount": 6}
    if low > 0 and high / low > SEVERAL_STEPS:
        steps = (1, 2, 5) if high / low < MANY_STEPS else (1,)
        ticks = [step * 10.0**power for power in range(-4, 9) for step in steps]
        few = {"values": [tick for tick in ticks if low <= tick <= high]}
    options = {"grid": True, "format": ",~r", **few, **options}
    return {"scale": scale, "title": title, "axis": alt.Axis(**options)}
