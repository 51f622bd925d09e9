"""Draw a small panel for each setup, with lines over time and a mark at the end of the load, on the same axes."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import MUTED
from loadtests.report.charts.picture import LINE_COLOURS
from loadtests.report.charts.shared import Rows

ACROSS, WIDTH, HEIGHT = 4, 150, 70


def over_time(rows: Rows, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw a panel for each label, in the order of the rows.

    Each row contains label, name (of the line), t, ended (the end of the load) and value. Times are in seconds.
    """
    labels, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("label", "name"))
    x = alt.X(
        "t:Q",
        title=None,
        scale=alt.Scale(domain=[0, max(row["t"] for row in rows)], nice=False),
        axis=alt.Axis(grid=False, tickCount=4),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=3))
    base = shared.RowChart().transform_calculate(line="datum.label + ': ' + datum.name")
    lines = base.mark_line(interpolate="step-after").encode(
        x=x,
        y=y,
        color=alt.Color(
            "name:N",
            scale=alt.Scale(domain=names, range=list(LINE_COLOURS[: len(names)])),
            legend=alt.Legend(title=None, orient="top"),
        ),
        # The first line is the broadest, so that it stays visible behind other lines.
        strokeWidth=alt.StrokeWidth(
            "name:N", scale=alt.Scale(domain=names, range=[3.5, *[1.2] * (len(names) - 1)]), legend=None
        ),
        description=alt.Description("line:N"),
    )
    ends = shared.RowChart().mark_rule(color=MUTED, strokeDash=[3, 3], aria=False).encode(x=alt.X("mean(ended):Q"))
    panels = (
        alt.layer(lines, ends, data=shared.values(rows))
        .properties(width=WIDTH, height=HEIGHT)
        .facet(facet=alt.Facet("label:N", title=None, sort=labels, header=alt.Header(labelFontSize=11)), columns=ACROSS)
    )
    return shared.finish(panels, title, subtitle, [])
