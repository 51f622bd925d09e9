"""Draw a line for each setup over load, over time or over rate.

The legend next to a panel lists the setups in the order of the ends of their lines, from top to bottom.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import INK, MUTED, PAPER
from loadtests.report.charts.rows import interval_rows
from loadtests.report.charts.shared import WIDTH, Looks, Rows

LINES = 7  # maximum number of lines in a panel, one for each colour
HEIGHT = 230
LEGEND = alt.Legend(title=None, orient="right", symbolOpacity=1)
OVER = 2.0  # the axis of times ends at this multiple of the objective, even if a curve continues


def over_load(rows: Rows, looks: Looks, time: str, load: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw the response time over load, with a panel for each percentile.

    Each row contains label, panel (the percentile), load, value (ms) and text, and also low and high if they are known.
    """
    x = alt.X("load:Q", **shared.axis(shared.scale_for(rows, "load"), load))
    panels = []
    for key, shown in shared.grouped(rows, "panel").items():
        scale = shared.scale_for(shown, kind="log")
        y = alt.Y("value:Q", **shared.axis(scale, f"{key} {time}, ms"))
        for part, its_looks in _parts(shown, looks):
            known = shared.described(part).transform_filter("isValid(datum.high)")
            intervals = known.mark_rule(strokeWidth=1.2, opacity=0.5)
            ends = intervals.encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=_colour(its_looks))
            panels.append(_panel([ends, *_lines(part, x, y, its_looks)]))
    return _stacked(panels, f"{time.capitalize()} over load", subtitle)


def over_time(rows: Rows, looks: Looks, seconds: float, many: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw rates over time with bands, like one of the two charts of the 2016 benchmark.

    ``many`` is the counted unit, such as requests. Each row contains label, t (in seconds since the start of the
    measurement), value, low and high (per second) and text.
    """
    scale = alt.Scale(domain=[0, seconds], nice=False)
    title = "time since the start of the measurement, s"
    x = alt.X("t:Q", title=title, scale=scale, axis=alt.Axis(grid=False, tickMinStep=1))
    panels = []
    for part, its_looks in _parts(rows, looks):
        scale = shared.scale_for(part, kind="linear")
        y = alt.Y("value:Q", **shared.axis(scale, f"{many} answered per second"))
        area = shared.chart_of(part).mark_area(opacity=0.15).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
        band = area.encode(color=_colour(its_looks), description="label:N")
        panels.append(_panel([band, *_lines(part, x, y, its_looks)]))
    return _stacked(panels, f"{many.capitalize()} per second over time", subtitle)


def capacity(
    rows: Rows,
    marks: Rows,
    limits: dict[str, float],
    axes: tuple[str, str],
    looks: Looks,
    title: str,
    subtitle: list[str],
) -> dict[str, Any]:
    """Draw times over rate, with a panel for each percentile, and a row for each setup, which shows its capacity.

    Args:
        rows: The points, with label, panel (the percentile), rate (per second), value (ms), passed and text.
        marks: The capacities, with label, note and text, and also value, low and high if they are known.
        limits: The limits of the objective in ms, by percentile.
        axes: The titles of the axes: the measured time, and the rate.
        looks: The looks of the setups.
        title: The title.
        subtitle: The lines of the subtitle.
    """
    scale = shared.scale_for([{"value": row["rate"]} for row in rows] + marks)
    x = alt.X("rate:Q", **shared.axis(scale, labels=False, ticks=False))
    panels = []
    for key, shown in shared.grouped(rows, "panel").items():
        times = shared.figures(shown, "value")
        top = min(max(times) * 1.1, max(limits.values()) * OVER)
        top = max(top, limits.get(key, 0) * 1.5)
        y_scale = shared.log_scale(min(min(times) * 0.85, top / 2), top, clamp=False)
        y = alt.Y("value:Q", **shared.axis(y_scale, f"{key} {axes[0]}, ms"))
        panels.append(_panel([*_objective(key, limits, y), *_probes(shown, x, y, looks)]))
    x = alt.X("value:Q", **shared.axis(scale, axes[1]))
    return shared.finish(shared.stacked([*panels, interval_rows(marks, x, looks)]), title, subtitle)


def _probes(rows: Rows, x: alt.X, y: alt.Y, looks: Looks) -> list[Any]:
    """Draw lines with points. The points beyond the objective are hollow. Times above the top of the axis are cut."""
    line, points = _lines(rows, x, y, looks, None)
    within = points.transform_filter("datum.passed").mark_point(filled=True, size=26, opacity=1, clip=True)
    hollow = points.transform_filter("!datum.passed").mark_point(size=26, opacity=1, fill=PAPER, clip=True)
    line.mark.clip = True
    return [line, within, hollow]


def _objective(key: str, limits: dict[str, float], y: alt.Y) -> Iterator[Any]:
    if key in limits:
        row = {"limit": limits[key], "text": f"objective: {key} < {limits[key]:g} ms"}
        line = shared.described([row]).encode(y=alt.Y("limit:Q", scale=y["scale"]))
        yield line.mark_rule(color=INK, strokeDash=[5, 3])
        yield line.mark_text(align="right", dy=-7, color=MUTED).encode(x=alt.XValue(WIDTH), text="text:N")


def _parts(rows: Rows, looks: Looks) -> Iterator[tuple[Rows, Looks]]:
    """Divide the lines into panels of at most LINES lines, and yield each panel's rows and looks."""
    labels = list(shared.grouped(rows, "label"))
    each = math.ceil(len(labels) / math.ceil(len(labels) / LINES))
    for start in range(0, len(labels), each):
        part = [row for row in rows if row["label"] in labels[start : start + each]]
        yield part, _by_end(part, looks)


def _by_end(rows: Rows, looks: Looks) -> Looks:
    """Return the looks of the setups, sorted by their last values."""
    ends = {row["label"]: row["value"] for row in rows}
    return {label: looks[label] for label in sorted(ends, key=lambda label: -ends[label])}


def _colour(looks: Looks) -> alt.Color:
    return shared.colour(looks, legend=LEGEND)


def _lines(rows: Rows, x: alt.X, y: alt.Y, looks: Looks, legend: alt.Legend | None = LEGEND) -> tuple[Any, Any]:
    base = shared.chart_of(rows).encode(x=x, y=y)
    scale = alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()])
    line = base.mark_line(strokeWidth=2).encode(
        color=shared.colour(looks, legend=legend),
        strokeDash=alt.StrokeDash("label:N", scale=scale, legend=legend),
        description="label:N",
    )
    return line, shared.points(base.encode(description="text:N"), 40, looks, legend=legend)


def _panel(layers: list[Any]) -> Any:
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _stacked(panels: list[Any], title: str, subtitle: list[str]) -> dict[str, Any]:
    """Stack panels, each with its own legend."""
    chart = shared.stacked(panels).resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return shared.finish(chart, title, subtitle)
