"""Draw a heat map of a figure over the values of two knobs.

The cell of each pair of values shows the figure. The better the figure, the stronger the colour.
"""

from __future__ import annotations

from math import log
from typing import Any, Literal

import altair as alt

from loadtests.report.charts.palette import GRID, MUTED, ON_RAMP, PAPER, RAMP
from loadtests.report.charts.shared import WIDTH, Rows, finish, grouped, values

ROW = 62
WIDEST = 130
# The lines of text in a cell: the key, the font size in pixels, the weight and the vertical offset.
LINES: tuple[tuple[str, int, Literal["normal", "bold"], int], ...] = (
    ("note", 13, "bold", -14),
    ("detail", 11, "normal", 2),
    ("advised", 11, "bold", 17),
)
# A cell has the weakest colour only if its figure is worse than the best figure by at least this factor.
MIN_RANGE = 1.5


def spec(
    rows: Rows,
    axes: tuple[tuple[str, list[str]], tuple[str, list[str]]],
    more_is_better: bool,
    title: str,
    subtitle: list[str],
) -> dict[str, Any]:
    """Draw a cell for each pair of values of two knobs. ``axes`` contains the vertical and the horizontal knob.

    Each row describes a cell. It contains panel (the values of other knobs), down, across, label, note and text. A row
    with a figure also contains value, detail, mark (``best`` draws a frame, ``within`` draws a dashed frame) and
    advised.
    """
    (down, down_values), (across, across_values) = axes
    x = alt.X(
        "across:O",
        sort=across_values,
        title=across,
        axis=alt.Axis(labelAngle=0, ticks=False, domain=False, grid=False),
        scale=alt.Scale(paddingInner=0.04, paddingOuter=0.02),
    )
    y = alt.Y(
        "down:O",
        sort=down_values,
        title=down or None,
        axis=alt.Axis(ticks=False, domain=False, grid=False, labelPadding=8),
        scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03),
    )
    base = alt.Chart().encode(x=x, y=y, description=alt.Description("text:N"))
    cells = base.mark_rect(opacity=1, stroke=GRID).encode(fill=alt.Fill("fill:N", scale=None))
    frames = [
        base.transform_filter(f"datum.mark === '{mark}'")
        .mark_rect(filled=False, strokeWidth=2, strokeDash=dash, width={"band": 0.94}, height={"band": 0.86})
        .encode(stroke=alt.Stroke("ink:N", scale=None))
        for mark, dash in (("best", [1, 0]), ("within", [4, 3]))
    ]
    lines = [
        base.mark_text(fontSize=size, fontWeight=weight, dy=dy).encode(
            text=f"{field}:N", color=alt.Color("ink:N", scale=None)
        )
        for field, size, weight, dy in LINES
    ]
    chart = (
        alt.layer(cells, *frames, *lines, data=values(_painted(rows, more_is_better)))
        .properties(width=min(WIDTH, WIDEST * len(across_values)), height=ROW * len(down_values))
        .facet(
            row=alt.Row(
                "panel:N",
                sort=list(grouped(rows, "panel")),
                header=alt.Header(title=None, labelAngle=0, labelOrient="top", labelAnchor="start", labelPadding=-10),
            )
        )
    )
    return finish(chart, title, subtitle)


def _painted(rows: Rows, more_is_better: bool) -> Rows:
    figures = [row["value"] for row in rows if row.get("value")]
    best = max(figures, default=1.0) if more_is_better else min(figures, default=1.0)
    behind = {value: abs(log(value / best)) for value in figures}
    reach = max(log(MIN_RANGE), *behind.values(), 0.0)
    painted = []
    for row in rows:
        colours = {"fill": PAPER, "ink": MUTED}
        if row.get("value"):
            step = round((1 - behind[row["value"]] / reach) * (len(RAMP) - 1))
            colours = {"fill": RAMP[step], "ink": ON_RAMP[step]}
        painted.append({"detail": "", "advised": "", **row, **colours})
    return painted
