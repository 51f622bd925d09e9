"""Draw the readings of one setup second by second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import BAND, INK, ROLE_COLOURS
from loadtests.report.charts.shared import WIDTH, Rows

HEIGHT = 80
NAME_HEIGHT = 14
ROOM_OF_TEXT = 0.18  # minimum length of a stage whose name is shown, as a share of the width
ANSWERED = ("#0072B2", "#009E73", "#3592C8")  # the colours of 2xx or ok, of stale copies, and of other successes
FAILED = ("#D55E00", "#CC79A7", "#8C2D5A", "#B97F00", "#8A8A8A")


class Panel(NamedTuple):
    """A panel of a chart of one setup. A panel without rows isn't drawn.

    Attributes:
        heading: The heading.
        rows: The data. Each row contains t, name and value (None for a gap). The rows of stacked bars also contain t2
            and good (whether the answers were successful).
        scale: The kind of the scale, as in ``scale_for``.
    """

    heading: str
    rows: Rows
    scale: str = "linear"


def spec(panels: Sequence[Panel], lasts: float, stages: Rows, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw panels with the same time axis of ``lasts`` seconds.

    Bands behind the panels show the ``stages`` of the origin, which contain t, t2, text and usual.
    """
    x = _x(lasts)
    bands = shared.chart_of([stage for stage in stages if not stage["usual"]]).mark_rect(fill=BAND, opacity=0.55)
    band = bands.encode(x=x, x2="t2:Q", y=alt.YValue(0), y2=alt.Y2Value("height"))
    named = [stage for stage in stages if stage["t2"] - stage["t"] >= ROOM_OF_TEXT * lasts]
    names = shared.chart_of(named).mark_text(align="left", baseline="top", dx=3, dy=2, fontSize=10, color=INK)
    names = names.encode(x=x.axis(None), y=alt.YValue(0), text="text:N")
    drawn = [alt.layer(names).properties(width=WIDTH, height=NAME_HEIGHT)] if named else []
    for panel in panels:
        if panel.rows:
            marks = _bars(panel.rows, x) if "t2" in panel.rows[0] else _lines(panel, x)
            layers = alt.layer(*([band] if stages else []), marks)
            drawn.append(layers.properties(width=WIDTH, height=HEIGHT, title=shared.heading(panel.heading)))
    return shared.finish(shared.stacked(drawn, 10).resolve_scale(color="independent"), title, subtitle)


def _x(lasts: float) -> alt.X:
    """Return the time axis. The subtitle describes it."""
    scale = alt.Scale(domain=[0, lasts], nice=False, clamp=True)
    return alt.X("t:Q", title=None, scale=scale, axis=alt.Axis(grid=False, tickMinStep=1))


def _bars(rows: Rows, x: alt.X) -> Any:
    good, bad = (list(shared.grouped([row for row in rows if row["good"] is which], "name")) for which in (True, False))
    colours = [ANSWERED[place % len(ANSWERED)] for place in range(len(good))]
    colours += [FAILED[place % len(FAILED)] for place in range(len(bad))]
    y = alt.Y("value:Q", title=None, stack="zero", axis=alt.Axis(tickCount=4))
    bars = shared.chart_of(rows).mark_bar(opacity=0.9, binSpacing=0)
    color = _colour([*good, *bad][::-1], colours[::-1])  # in the order of the bar's parts, from top to bottom
    return bars.encode(x=x.bin("binned"), x2="t2:Q", y=y, color=color)


def _lines(panel: Panel, x: alt.X) -> Any:
    names = list(shared.grouped(panel.rows, "name"))
    y = alt.Y("value:Q", **shared.axis(shared.scale_for(panel.rows, kind=panel.scale), tickCount=4))
    lines = shared.chart_of(panel.rows).mark_line(strokeWidth=1.6).encode(x=x, y=y, detail="name:N")
    return lines.encode(color=_colour(names, ROLE_COLOURS) if len(names) > 1 else alt.value(ROLE_COLOURS[0]))


def _colour(names: list[str], colours: Sequence[str]) -> alt.Color:
    painted = [colours[place % len(colours)] for place in range(len(names))]
    scale = alt.Scale(domain=names, range=painted)
    return alt.Color("name:N", scale=scale, legend=alt.Legend(title=None, orient="right"))
