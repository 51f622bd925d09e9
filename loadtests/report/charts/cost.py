"""CPU time per request (or whatever else is counted) by setup, stacked by the role of the processes."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts.base import WIDTH, arrows, clamp, finish, values
from loadtests.report.charts.palette import INK, MUTED, PAPER, ROLE_COLOURS, Look

ROW = 30


def spec(
    parts: list[dict[str, Any]],
    totals: list[dict[str, Any]],
    looks: dict[str, Look],
    roles: list[str],
    title: str,
    axis_title: str,
    subtitle: list[str],
) -> dict[str, Any]:
    """Stacked bars, with the interval of their total.

    ``parts`` have label, role, start, end (stacked) and text; ``totals`` have label, note and text, and where there
    is a figure also value, low and high.
    """
    totals = clamp(totals, "value")
    top = max((row[key] for row in totals for key in ("value", "high") if row.get(key) is not None), default=1.0)
    scale = alt.Scale(domain=[0, top * 1.02], nice=False)
    axis = alt.Axis(grid=True, tickCount=6)
    sort = [row["label"] for row in totals]
    y = alt.Y("label:N", sort=sort, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
    fill = alt.Color(
        "role:N",
        title="processes of the role",
        scale=alt.Scale(domain=roles, range=[ROLE_COLOURS[i % len(ROLE_COLOURS)] for i in range(len(roles))]),
    )
    described = alt.Description("text:N")
    bars = (
        alt.Chart(values(parts))
        .mark_bar(height=16, stroke=PAPER, strokeWidth=1)
        .encode(
            x=alt.X("start:Q", scale=scale, title=axis_title, axis=axis),
            x2="end:Q",
            y=y,
            color=fill,
            description=described,
        )
    )
    base = alt.Chart(values(totals)).encode(y=y, description=described)
    measured = base.transform_filter("isValid(datum.value)")
    whiskers = measured.transform_filter("isValid(datum.high)").encode(x=alt.X("low:Q", scale=scale))
    halo = whiskers.mark_rule(color=PAPER, strokeWidth=5).encode(x2="high:Q")
    line = whiskers.mark_rule(color=INK, strokeWidth=2).encode(x2="high:Q")
    notes = (
        measured.transform_calculate(end="isValid(datum.high) ? max(datum.high, datum.value) : datum.value")
        .mark_text(align="left", dx=7)
        .encode(x=alt.X("end:Q", scale=scale), text="note:N")
    )
    missing = (
        base.transform_filter("!isValid(datum.value)")
        .mark_text(align="left", color=MUTED, fontStyle="italic")
        .encode(x=alt.value(4), text="note:N")
    )
    cut = arrows(whiskers, scale, alt.ColorValue(INK))
    chart = alt.layer(bars, halo, line, *cut, notes, missing).properties(width=WIDTH, height=ROW * len(sort))
    return finish(chart, title, subtitle, looks)
