"""What happened to one setup second by second: several panels, one under another, on one time axis.

Behind all of them stand the stages of the origin, where there was one. Over the first lies a column for each moment
that says all of its figures; the page's script shows it wherever the pointer is at that moment, and by the keyboard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, axis_for, finish, heading, scale_for, values
from loadtests.report.charts.palette import BAND, INK, RAMP

Rows = list[dict[str, Any]]

HIGH, LOW = 110, 70
LINE_COLOURS = ("#0072B2", "#B97F00", "#8C2D5A", "#3592C8", "#8A8A8A")
ANSWERED = ("#0072B2", "#009E73", "#3592C8")  # 2xx, or ok; what is in a stale copy; any other
FAILED = ("#D55E00", "#CC79A7", "#8C2D5A", "#B97F00", "#8A8A8A")


@dataclass(frozen=True)
class Seconds:
    """The rows of each panel, of ``lasts`` seconds; a panel without rows is not drawn.

    ``ends``: t, t2, name, low and high (per second, one standing on the other), good; ``times`` and the other lines: t,
    name, value; ``heat``: t, t2, low, high, share (0 to 1). ``stages``: t, t2, told, usual. ``columns``: t, t2, text.
    """

    lasts: float
    ends: Rows
    times: Rows
    heat: Rows
    in_flight: Rows
    pool: Rows
    cpu: Rows
    stages: Rows = field(default_factory=list)
    columns: Rows = field(default_factory=list)


def spec(seconds: Seconds, time: str, many: str, title: str, subtitle: list[str]) -> dict[str, Any]:
    """All panels that have something to show. ``time`` is which time it is, ``many`` what is answered."""
    drawn = [
        (seconds.ends, lambda: _ends(seconds), HIGH, f"{many} answered per second, by status"),
        (seconds.times, lambda: _lines(seconds, seconds.times, "ms", several=True), HIGH, f"{time}, ms"),
        (seconds.heat, lambda: _heat(seconds), HIGH, f"{time}, ms: the darker, the more {many}"),
        (seconds.in_flight, lambda: _lines(seconds, seconds.in_flight, many), LOW, f"{many} in flight"),
        (
            seconds.pool,
            lambda: _lines(seconds, seconds.pool, many),
            LOW,
            "connections of the pool in use, and waiting for",
        ),
        (seconds.cpu, lambda: _lines(seconds, seconds.cpu, "cores"), LOW, "CPU by role, cores"),
    ]
    panels = [(make(), height, called) for rows, make, height, called in drawn if rows]
    bands = _bands(seconds)
    layered = [
        alt.layer(*bands, *layers, *([_told(seconds), _columns(seconds)] if place == 0 else []))
        .resolve_scale(color="independent")
        .properties(width=WIDTH, height=height, title=heading(called))
        for place, (layers, height, called) in enumerate(panels)
    ]
    chart = alt.vconcat(*layered, spacing=10).resolve_scale(color="independent", x="independent", y="independent")
    names = {str(row["name"]) for rows in (seconds.ends, seconds.times, seconds.pool, seconds.cpu) for row in rows}
    return finish(chart, title, subtitle, names)


def _x(seconds: Seconds, channel: str = "t") -> alt.X:
    return alt.X(
        f"{channel}:Q",
        title="time since the measurement began, s",
        scale=alt.Scale(domain=[0, seconds.lasts], nice=False, clamp=True),
        axis=alt.Axis(grid=False, tickCount=10, titleFontSize=11),
    )


def _legend(names: list[str], colours: list[str]) -> alt.Color:
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color("name:N", scale=scale, legend=alt.Legend(title=None, orient="right", columns=1))


def _ends(seconds: Seconds) -> list[alt.Chart]:
    rows = seconds.ends
    good = list(dict.fromkeys(row["name"] for row in rows if row["good"]))
    bad = list(dict.fromkeys(row["name"] for row in rows if not row["good"]))
    colours = [ANSWERED[place % len(ANSWERED)] for place in range(len(good))]
    colours += [FAILED[place % len(FAILED)] for place in range(len(bad))]
    top = max(row["high"] for row in rows) * 1.05 or 1.0
    y = alt.Y("low:Q", title=None, scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(tickCount=4))
    bars = alt.Chart(values(rows)).mark_rect(opacity=0.9).encode(x=_x(seconds), x2="t2:Q", y=y, y2="high:Q")
    return [bars.encode(color=_legend([*good, *bad], colours))]


def _lines(seconds: Seconds, rows: Rows, unit: str, several: bool = False) -> list[alt.Chart]:
    """Lines by name, which are told apart by a legend where there is more than one."""
    scale = scale_for(row["value"] for row in rows)
    if not several or scale.to_dict().get("type") != "log":
        top = max(row["value"] for row in rows) * 1.1 or 1.0
        scale = alt.Scale(domain=[0, top], nice=False)
    axis = axis_for(scale) if several else alt.Axis(tickCount=4)
    names = list(dict.fromkeys(row["name"] for row in rows))
    colours = [LINE_COLOURS[place % len(LINE_COLOURS)] for place in range(len(names))]
    base = alt.Chart(values(rows)).transform_calculate(said=f"datum.name + ', {unit}'")
    paint = _legend(names, colours) if len(names) > 1 else alt.value(LINE_COLOURS[0])
    return [
        base.mark_line(strokeWidth=1.6).encode(
            x=_x(seconds),
            y=alt.Y("value:Q", title=None, scale=scale, axis=axis),
            color=paint,
            detail="name:N",
            description=alt.Description("said:N"),
        )
    ]


def _heat(seconds: Seconds) -> list[alt.Chart]:
    """Cells, the darker the larger the share of the moment's times that is in them."""
    rows = [{**row, "fill": RAMP[round(row["share"] * (len(RAMP) - 1))]} for row in seconds.heat]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    y = alt.Y(
        "low:Q", title=None, scale=scale, axis=alt.Axis(grid=False, tickCount=4, format="~s" if high > 1e5 else ",~r")
    )
    cells = alt.Chart(values(rows)).mark_rect(opacity=1).encode(x=_x(seconds), x2="t2:Q", y=y, y2="high:Q")
    return [cells.encode(fill=alt.Fill("fill:N", scale=None))]


def _bands(seconds: Seconds) -> list[alt.Chart]:
    rows = [row for row in seconds.stages if not row["usual"]]
    if not rows:
        return []
    band = alt.Chart(values(rows)).mark_rect(fill=BAND, opacity=0.55)
    return [band.encode(x=_x(seconds), x2="t2:Q", y=alt.value(0), y2=alt.value("height"))]


def _told(seconds: Seconds) -> alt.Chart:
    """What each stage is, in words, over the first panel."""
    texts = alt.Chart(values(seconds.stages)).mark_text(
        align="left", baseline="top", dx=3, dy=2, fontSize=10, color=INK
    )
    return texts.encode(x=_x(seconds), y=alt.value(0), text="told:N")


def _columns(seconds: Seconds) -> alt.Chart:
    columns = alt.Chart(values(seconds.columns)).mark_rect(opacity=0, fill=INK)
    return columns.encode(
        x=_x(seconds), x2="t2:Q", y=alt.value(0), y2=alt.value("height"), description=alt.Description("text:N")
    )
