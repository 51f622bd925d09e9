"""Draw a row for each setup: a figure, its interval and a note. Each percentile or metric has its own panel of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from loadtests.report.charts import shared
from loadtests.report.charts.palette import BAND, INK, MUTED, NOISE, PAPER, ROLE_COLOURS
from loadtests.report.charts.shared import WIDTH, Looks, Rows

ROW = 20
WIDE_ROW = 30


def spec(
    rows: Rows,
    axis_title: str,
    title: str,
    subtitle: list[str],
    from_zero: bool = False,
) -> dict[str, Any]:
    """Draw a figure of each setup.

    Each row contains label, kind (of the setup), note and text, and also panel (a heading), value, low and high if they
    are known.
    """
    scale = shared.scale_for(rows, kind="linear" if from_zero else "")
    panels = _panels(rows, {}, alt.X("value:Q", **shared.axis(scale, axis_title)))
    return shared.finish(panels, title, subtitle)


def ratios(rows: Rows, bands: Rows, title: str, subtitle: list[str]) -> dict[str, Any]:
    """Draw ratios to the baseline, in front of bands for equivalence and the machine's noise floor.

    The rows have the same keys as in ``spec``. Each band contains panel, kind (its name in the legend), low and high.
    """
    scale = shared.scale_for([*rows, {"value": 1 / 1.05}, {"value": 1.05}], kind="log")
    kinds = list(shared.grouped(bands, "kind"))
    fill = alt.Fill("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[BAND, NOISE][: len(kinds)]))
    one = shared.chart_of([{"one": 1}]).mark_rule(color=INK).encode(x=alt.X("one:Q", scale=scale))
    behind = {
        panel: [
            shared.chart_of(own)
            .mark_rect(opacity=0.75)
            .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=alt.YValue(0), y2=alt.Y2Value("height"), fill=fill),
            one,
        ]
        for panel, own in shared.grouped(bands, "panel").items()
    }
    axis = shared.axis(scale, "ratio to the baseline (logarithmic)", labelExpr="datum.label && '×' + datum.label")
    x = alt.X("value:Q", **axis)
    return shared.finish(_panels(rows, behind, x), title, subtitle)


def _panels(rows: Rows, behind: dict[str, list[Any]], x: alt.X) -> Any:
    looks, panels = shared.kinds(rows), shared.grouped(rows, "panel")
    drawn = []
    for heading, own in panels.items():
        own_x = x if heading == list(panels)[-1] else x.title(None)  # only the last panel has an axis title
        panel = interval_rows(own, own_x, looks, "kind", behind.get(heading, []))
        drawn.append(panel.properties(title=shared.heading(heading)) if heading else panel)
    return shared.stacked(drawn)


def interval_rows(rows: Rows, x: alt.X, looks: Looks, by: str = "label", behind: Sequence[Any] = ()) -> Any:
    """Draw rows with points and intervals in front of the layers ``behind``.

    Each row contains label, note and text, and also value, low and high if they are known.
    """
    base = shared.described(rows).encode(y=shared.label_axis(rows))
    legend = alt.Legend(title=None, symbolOpacity=1) if by == "kind" and len(looks) > 1 else None
    points = shared.points(base.transform_filter("isValid(datum.value)").encode(x=x), 75, looks, by, legend)
    intervals = _intervals(base, x, 2.5).encode(color=shared.colour(looks, by, legend))
    return alt.layer(*behind, intervals, points, _notes(base)).properties(width=WIDTH, height=ROW * len(rows))


def _intervals(base: alt.Chart, x: alt.X, width: float, **mark: Any) -> Any:
    known = base.transform_filter("isValid(datum.high)").mark_rule(strokeWidth=width, **mark)
    return known.encode(x=alt.X("low:Q", scale=x["scale"]), x2="high:Q")


def _notes(base: alt.Chart) -> Any:
    """Draw the notes to the right of the plot."""
    ink = alt.condition("isValid(datum.value)", alt.value(INK), alt.value(MUTED))
    return base.mark_text(align="left", dx=10).encode(x=alt.XValue(WIDTH), text="note:N", color=ink)


def bars(
    parts: Rows, totals: Rows, roles: list[str], axis_title: str, title: str, subtitle: list[str]
) -> dict[str, Any]:
    """Draw a stacked bar of the roles for each setup, and the confidence interval of each total.

    The rows of ``parts`` contain label, role, start, end (stacked) and text. The rows of ``totals`` contain label, note
    and text, and also value, low and high if they are known.
    """
    scale = shared.scale_for(totals, kind="linear")
    x = alt.X("start:Q", **shared.axis(scale, axis_title))
    base = shared.described(totals).encode(y=shared.label_axis(totals))
    colours = [ROLE_COLOURS[i % len(ROLE_COLOURS)] for i in range(len(roles))]
    fill = alt.Color("role:N", title="processes of the role", scale=alt.Scale(domain=roles, range=colours))
    drawn = shared.described(parts).mark_bar(height=16, stroke=PAPER, strokeWidth=1)
    bars = drawn.encode(x=x, x2="end:Q", y=base.encoding.y, color=fill)
    halo, line = _intervals(base, x, 5, color=PAPER), _intervals(base, x, 2, color=INK)
    layers = alt.layer(bars, halo, line, _notes(base)).properties(width=WIDTH, height=WIDE_ROW * len(totals))
    return shared.finish(layers, title, subtitle)
