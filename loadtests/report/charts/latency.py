"""Response time percentiles by setup: a panel for each percentile, a row for each setup."""

from __future__ import annotations

from typing import Any

import altair as alt

from loadtests.report.charts.base import axis_for, clamp, finish, heading, scale_for
from loadtests.report.charts.interval_rows import interval_rows
from loadtests.report.charts.palette import Look


def spec(rows: list[dict[str, Any]], looks: dict[str, Look], time: str, subtitle: list[str]) -> dict[str, Any]:
    """Points with intervals, in the order of ``rows``; ``time`` says which time it is.

    Each row has label, percentile, note (what is written beside the point) and text (what a reader who cannot see the
    point is told); where there is a figure also value, low and high, in ms.
    """
    rows = clamp(rows, "value")
    scale = scale_for([row[key] for row in rows for key in ("value", "low", "high") if row.get(key) is not None])
    keys = list(dict.fromkeys(row["percentile"] for row in rows))
    titles = [None] * (len(keys) - 1) + [f"{time}, ms"]
    panels = [
        interval_rows(
            [row for row in rows if row["percentile"] == key],
            alt.X("value:Q", scale=scale, title=title, axis=axis_for(scale)),
            scale,
            looks,
        ).properties(title=heading(key))
        for key, title in zip(keys, titles, strict=True)
    ]
    return finish(alt.vconcat(*panels, spacing=16), f"{time.capitalize()} by percentile", subtitle, looks)
