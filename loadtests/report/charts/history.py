"""A study's figures run after run: a panel for each test and metric, with significant changes marked."""

from __future__ import annotations

import json
from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import INK
from loadtests.report.charts.shared import Looks, Rows

HEIGHT = 170
MARGIN = 1.15
MANY = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # the ticks of a decade where there is room
MANY_TICKS = 6.0  # the range, high over low, up to which there is
UPRIGHT = 7  # more run names than this do not fit side by side


def spec(panels: dict[str, Rows], runs: list[str], looks: Looks, title: str, subtitle: list[str]) -> dict[str, Any]:
    """A panel for each title in ``panels``, over all the ``runs``.

    Rows: label, run (its place in ``runs``), value, text, low and high where closed, and for a change its mark.
    """
    last = list(panels)[-1]
    drawn = [_panel(name, rows, runs if name == last else [""] * len(runs), looks) for name, rows in panels.items()]
    return shared.finish(shared.stacked(drawn, 14).resolve_legend(color="shared"), title, subtitle, looks)


def _panel(name: str, rows: Rows, runs: list[str], looks: Looks) -> Any:
    rows = shared.clamp(rows, "value")
    numbers = [figure for figure in shared.figures(rows, "value", "low", "high") if figure]
    # Logarithmic: the same change is the same distance for a slow and a fast setup.
    low, high = min(numbers) / MARGIN, max(numbers) * MARGIN
    scale, steps = shared.log_scale(low, high), shared.STEPS if high / low > MANY_TICKS else MANY
    y = alt.Y("value:Q", title=None, scale=scale, axis=shared.log_axis(low, high, steps, format=",~r"))
    x = alt.X(
        "run:Q",
        title=None,
        scale=alt.Scale(domain=[-0.4, len(runs) - 0.6], nice=False),
        axis=alt.Axis(
            grid=False,
            values=list(range(len(runs))),
            labelExpr=f"{json.dumps(runs)}[datum.value]",
            labelAngle=-40 if len(runs) > UPRIGHT else 0,
        ),
    )
    paint = shared.colour(looks, legend=alt.Legend(title=None, symbolType="circle", symbolOpacity=1))
    base = alt.Chart(shared.values(rows)).encode(x=x)
    line = shared.lines(base.encode(y=y), name, 1.5, looks).encode(color=paint)
    marks = base.encode(description=alt.Description("text:N"))
    whiskers = marks.transform_filter("isValid(datum.high)")
    rules = shared.whiskers(whiskers, alt.Y("low:Q", scale=scale), 2, looks).encode(color=paint)
    ends = shared.arrows(whiskers, scale, paint, upright=True, size=50)
    points = shared.points(marks.encode(y=y), 50, looks).encode(color=paint)
    marked = marks.transform_filter("isValid(datum.mark)")
    rings = marked.mark_point(size=220, strokeWidth=2, color=INK, opacity=1).encode(y=y)
    notes = marked.mark_text(align="left", dx=11, dy=-9, fontWeight="bold").encode(y=y, text="mark:N")
    heading = alt.TitleParams(name, fontSize=12, frame="group", offset=6)
    return shared.panel([rules, *ends, line, points, rings, notes], HEIGHT, title=heading)
