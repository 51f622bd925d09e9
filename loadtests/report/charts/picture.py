"""Draw one setup second by second, in several panels with the same time axis.

If the run had an origin, bands behind the panels show its stages. Transparent columns over the first panel have
tooltips with all figures of the column's seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from loadtests.report.charts.palette import BAND, INK, RAMP
from loadtests.report.charts.shared import WIDTH, Rows, axis_for, chart_of, finish, heading, scale_for, stacked

HIGH, LOW = 110, 70
ROOM_OF_TEXT = 0.18  # minimum length of a stage whose name is shown, as a share of the width
ROOM = 1.25  # end of the first panel's axis, relative to its highest bar, to make space for the names of stages
LINE_COLOURS = ("#0072B2", "#B97F00", "#8C2D5A", "#3592C8", "#8A8A8A")
ANSWERED = ("#0072B2", "#009E73", "#3592C8")  # the colours of 2xx or ok, of stale copies, and of other successes
FAILED = ("#D55E00", "#CC79A7", "#8C2D5A", "#B97F00", "#8A8A8A")


@dataclass(frozen=True)
class Panel:
    """A panel of the chart. A panel without rows isn't drawn.

    Attributes:
        heading: The heading.
        height: The height in pixels.
        draw: The function that draws the rows. Its arguments are the rows and the length of the time axis in seconds.
        rows: The data. For ``bars``, each row contains t, t2, name, low and high (per second, stacked) and good
            (whether the answers were successful). For ``times`` and ``lines``, each row contains t, name and value
            (None for a gap). For ``cells``, each row contains t, t2, low, high and share (0 to 1).
        named: Whether the panel shows the names of its rows.
    """

    heading: str
    height: int
    draw: Callable[[Rows, float], Any]
    rows: Rows
    named: bool = True


def spec(
    panels: Sequence[Panel], lasts: float, stages: Rows, columns: Rows, title: str, subtitle: list[str]
) -> dict[str, Any]:
    """Draw panels over ``lasts`` seconds.

    Bands behind the panels show the ``stages``, which contain t, t2, text and usual. Each of the ``columns`` contains
    t, t2, and the text of its title.
    """
    shown = [panel for panel in panels if panel.rows]
    layers = [[*_bands(stages, lasts), panel.draw(panel.rows, lasts)] for panel in shown]
    layers[0] += [*_stage_names(stages, lasts), _columns(columns, lasts)]
    drawn = [
        alt.layer(*of_panel)
        .resolve_scale(color="independent")
        .properties(width=WIDTH, height=panel.height, title=heading(panel.heading))
        for panel, of_panel in zip(shown, layers, strict=True)
    ]
    chart = stacked(drawn, 10).resolve_scale(color="independent", x="independent", y="independent")
    return finish(chart, title, subtitle, [row["name"] for panel in shown if panel.named for row in panel.rows])


def _x(lasts: float) -> alt.X:
    return alt.X(
        "t:Q",
        title=None,  # the subtitle describes the time axis of all panels
        scale=alt.Scale(domain=[0, lasts], nice=False, clamp=True),
        axis=alt.Axis(grid=False, tickCount=10, titleFontSize=11),
    )


def _legend(names: list[str], colours: list[str]) -> alt.Color:
    scale = alt.Scale(domain=names, range=colours)
    return alt.Color("name:N", scale=scale, legend=alt.Legend(title=None, orient="right", columns=1))


def bars(rows: Rows, lasts: float) -> Any:
    good = list(dict.fromkeys(row["name"] for row in rows if row["good"]))
    bad = list(dict.fromkeys(row["name"] for row in rows if not row["good"]))
    colours = [ANSWERED[place % len(ANSWERED)] for place in range(len(good))]
    colours += [FAILED[place % len(FAILED)] for place in range(len(bad))]
    top = max(row["high"] for row in rows) * ROOM
    y = alt.Y("low:Q", title=None, scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(tickCount=4))
    bars = chart_of(rows).mark_rect(opacity=0.9, aria=False)
    return bars.encode(x=_x(lasts), x2=alt.X2("t2:Q"), y=y, y2=alt.Y2("high:Q"), color=_legend([*good, *bad], colours))


def times(rows: Rows, lasts: float) -> Any:
    scale = scale_for(row["value"] for row in rows if row["value"] is not None)
    return _drawn(rows, lasts, alt.Y("value:Q", title=None, scale=scale, axis=axis_for(scale)))


def lines(rows: Rows, lasts: float) -> Any:
    top = max(row["value"] for row in rows) * 1.1 or 1.0
    scale = alt.Scale(domain=[0, top], nice=False)
    return _drawn(rows, lasts, alt.Y("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=4)))


def _drawn(rows: Rows, lasts: float, y: alt.Y) -> Any:
    names = list(dict.fromkeys(row["name"] for row in rows))
    colours = [LINE_COLOURS[place % len(LINE_COLOURS)] for place in range(len(names))]
    paint = _legend(names, colours) if len(names) > 1 else alt.value(LINE_COLOURS[0])
    lines = chart_of(rows).mark_line(strokeWidth=1.6)
    return lines.encode(
        x=_x(lasts), y=y, color=paint, detail=alt.Detail("name:N"), description=alt.Description("name:N")
    )


def cells(rows: Rows, lasts: float) -> Any:
    """Draw a heat map of times. The darker the cell, the larger its share of the times in the same column."""
    painted = [{**row, "fill": RAMP[round(row["share"] * (len(RAMP) - 1))]} for row in rows]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    y = alt.Y("low:Q", title=None, scale=scale, axis=axis_for(scale))
    cells = chart_of(painted).mark_rect(opacity=1, aria=False)
    return cells.encode(x=_x(lasts), x2=alt.X2("t2:Q"), y=y, y2=alt.Y2("high:Q"), fill=alt.Fill("fill:N", scale=None))


def _bands(stages: Rows, lasts: float) -> list[Any]:
    """Draw bands behind a panel for the stages that differ from the first stage."""
    rows = [row for row in stages if not row["usual"]]
    band = chart_of(rows).mark_rect(fill=BAND, opacity=0.55, aria=False)
    return [band.encode(x=_x(lasts), x2=alt.X2("t2:Q"), y=alt.YValue(0), y2=alt.Y2Value("height"))] if rows else []


def _stage_names(stages: Rows, lasts: float) -> list[Any]:
    """Draw the names of the stages at the top of the first panel, except for stages that are too short."""
    rows = [row for row in stages if row["t2"] - row["t"] >= ROOM_OF_TEXT * lasts]
    texts = chart_of(rows).mark_text(align="left", baseline="top", dx=3, dy=2, fontSize=10, color=INK)
    return [texts.encode(x=_x(lasts), y=alt.YValue(0), text=alt.Text("text:N"))] if rows else []


def _columns(rows: Rows, lasts: float) -> Any:
    columns = chart_of(rows).mark_rect(opacity=0, fill=INK).encode(description=alt.Description("text:N"))
    return columns.encode(x=_x(lasts), x2=alt.X2("t2:Q"), y=alt.YValue(0), y2=alt.Y2Value("height"))
