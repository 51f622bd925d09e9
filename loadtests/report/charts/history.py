"""A study's figures run after run: a panel for each test and metric, changes that are more than noise marked."""

from __future__ import annotations

import json
import math
from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, clamp, colour, finish, shape, values
from loadtests.report.charts.palette import INK, Look

HEIGHT = 170
MARGIN = 1.15
FEW, MANY = (1, 2, 5), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # the ticks of a decade
MANY_TICKS = 6.0  # the range, high over low, up to which there is room for many
UPRIGHT = 7  # more run names than this do not fit beside each other


def spec(
    panels: dict[str, list[dict[str, Any]]], runs: list[str], looks: dict[str, Look], title: str, subtitle: list[str]
) -> dict[str, Any]:
    """A panel for each key of ``panels``, which is its title, over all the ``runs``.

    A row has label, run (its place in ``runs``), value and text, low and high where the interval is closed, and where
    the value is a change also mark, what is written beside it.
    """
    last = list(panels)[-1]
    drawn = [_panel(name, rows, runs if name == last else [""] * len(runs), looks) for name, rows in panels.items()]
    return finish(alt.vconcat(*drawn, spacing=14).resolve_legend(color="shared"), title, subtitle, looks)


def _panel(name: str, rows: list[dict[str, Any]], runs: list[str], looks: dict[str, Look]) -> Any:
    rows = clamp(rows, "value")
    scale, axis = _logarithmic([row[key] for row in rows for key in ("value", "low", "high") if row.get(key)])
    y = alt.Y("value:Q", title=None, scale=scale, axis=axis)
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
    paint = colour(looks, legend=alt.Legend(title=None, symbolType="circle", symbolOpacity=1))
    dash = alt.StrokeDash(
        "label:N",
        legend=None,
        scale=alt.Scale(domain=list(looks), range=[list(look.dash) for look in looks.values()]),
    )
    base = alt.Chart(values(rows)).encode(x=x)
    line = (
        base.transform_calculate(said=f"datum.label + ': ' + {json.dumps(name)}")
        .mark_line(strokeWidth=1.5)
        .encode(y=y, color=paint, strokeDash=dash, description=alt.Description("said:N"))
    )
    told = base.encode(description=alt.Description("text:N"))
    whiskers = told.transform_filter("isValid(datum.high)")
    rules = whiskers.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=paint)
    ends = [
        whiskers.transform_filter(f"datum.cut_{end}")
        .mark_point(shape=f"triangle-{side}", filled=True, size=50, opacity=1)
        .encode(y=alt.Y(f"{end}:Q", scale=scale), color=paint)
        for end, side in (("low", "down"), ("high", "up"))
    ]
    points = told.mark_point(filled=True, size=50, opacity=1).encode(y=y, color=paint, shape=shape(looks))
    marked = told.transform_filter("isValid(datum.mark)")
    rings = marked.mark_point(size=220, strokeWidth=2, color=INK, opacity=1).encode(y=y)
    notes = marked.mark_text(align="left", dx=11, dy=-9, fontWeight="bold").encode(y=y, text="mark:N")
    heading = alt.TitleParams(name, fontSize=12, frame="group", offset=6)
    layers = alt.layer(rules, *ends, line, points, rings, notes)
    return layers.properties(width=WIDTH, height=HEIGHT, title=heading)


def _logarithmic(numbers: list[float]) -> tuple[alt.Scale, alt.Axis]:
    """A scale on which the same change is the same distance, whether the setup is a slow or a fast one."""
    low, high = min(numbers) / MARGIN, max(numbers) * MARGIN
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = FEW if high / low > MANY_TICKS else MANY
    ticks = [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]
    return alt.Scale(type="log", domain=[low, high], nice=False), alt.Axis(grid=True, values=ticks, format=",~r")
