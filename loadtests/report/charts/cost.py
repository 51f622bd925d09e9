"""Draw a bar for each setup: its CPU time per request (or other unit), divided into parts by role."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.latency import notes
from loadtests.report.charts.palette import INK, PAPER, ROLE_COLOURS
from loadtests.report.charts.shared import Rows

ROW = 30


def spec(
    parts: Rows, totals: Rows, roles: list[str], axis_title: str, title: str, subtitle: list[str]
) -> dict[str, Any]:
    """Draw stacked bars, and the confidence interval of each total.

    The rows of ``parts`` contain label, role, start, end (stacked) and text. The rows of ``totals`` contain label, note
    and text, and also value, low and high if they are known.
    """
    totals = shared.clamp(totals, "value")
    scale = alt.Scale(domain=[0, max(shared.figures(totals, "value", "high"), default=1.0) * 1.02], nice=False)
    y = shared.label_axis(totals)
    fill = alt.Color(
        "role:N",
        title="processes of the role",
        scale=alt.Scale(domain=roles, range=[ROLE_COLOURS[i % len(ROLE_COLOURS)] for i in range(len(roles))]),
    )
    x = alt.X("start:Q", scale=scale, title=axis_title, axis=alt.Axis(grid=True, tickCount=6))
    bars = (
        shared.described(parts)
        .mark_bar(height=16, stroke=PAPER, strokeWidth=1)
        .encode(x=x, x2=alt.X2("end:Q"), y=y, color=fill)
    )
    base = shared.described(totals).encode(y=y)
    whiskers = base.transform_filter("isValid(datum.value)").transform_filter("isValid(datum.high)")
    rules = whiskers.encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"))
    halo, line = rules.mark_rule(color=PAPER, strokeWidth=5), rules.mark_rule(color=INK, strokeWidth=2)
    cut = shared.arrows(rules, scale, alt.ColorValue(INK))
    end = "isValid(datum.high) ? max(datum.high, datum.value) : datum.value"
    layers = [bars, halo, line, *cut, *notes(base, scale, end, 7)]
    return shared.finish(shared.panel(layers, ROW * len(totals)), title, subtitle, map(shared.name_of, totals))
