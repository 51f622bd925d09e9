"""One look for all charts: a colour, a shape and a dash for each setup, and inks that the page can turn dark."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

# Okabe and Ito's colours for all kinds of colour vision (jfly.uni-koeln.de/color), without yellow and black and with a
# darker sky blue and orange, for a contrast of 3 to 1 on light and dark pages (WCAG 2).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#3592C8", "#B97F00", "#8A8A8A")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")

# The page's style sheet replaces these inks by its theme's colours: keep the two alike.
INK = "#1b1f24"
MUTED = "#5c6570"
GRID = "#dde1e6"
BAND = "#c9d3de"
NOISE = "#9fb0c2"
PAPER = "#fdfdfe"

# Roles differ in lightness as well, so that a stacked bar reads in grey.
ROLE_COLOURS = ("#0072B2", "#B97F00", "#8C2D5A", "#3592C8", "#8A8A8A")

# A heat map's steps, in one hue, from the weakest to the strongest. The dark theme reverses their lightness.
RAMP = ("#e3eef6", "#c3dcec", "#9cc6e0", "#6cabd0", "#4a96c4", "#1f6899", "#0b4468")
ON_RAMP = (INK,) * 5 + (PAPER,) * 2

# Metric-compatible with the font by which vl-convert measures texts.
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


@dataclasses.dataclass(frozen=True)
class Look:
    """Colour, line and point of a setup in all charts of a run."""

    colour: str
    dash: tuple[int, ...]
    shape: str


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """A look for each label, by its place in the study."""
    return {
        label: Look(
            COLOURS[place % len(COLOURS)],
            DASHES[place // len(COLOURS) % len(DASHES)],
            SHAPES[(place + place // len(COLOURS)) % len(SHAPES)],
        )
        for place, label in enumerate(labels)
    }


def config(longest: int) -> dict[str, Any]:
    """The Vega-Lite configuration of all charts, with a margin of a pixel per letter for other fonts."""
    margin = 12 + longest
    return {
        "background": PAPER,
        "font": FONT,
        "padding": {"left": margin, "right": margin, "top": 12, "bottom": 12},
        "view": {"stroke": None},
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": INK,
            "fontSize": 15,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
            "offset": 14,
        },
        "axis": {
            "labelColor": INK,
            "titleColor": INK,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": GRID,
            "domainColor": MUTED,
            "tickColor": MUTED,
            "labelLimit": 0,
            "titleLimit": 0,
        },
        "header": {"labelColor": INK, "labelFontSize": 12, "labelFontWeight": "bold", "labelLimit": 0},
        "legend": {
            "labelColor": INK,
            "titleColor": INK,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "orient": "bottom",
            "columnPadding": 28,
            "labelLimit": 0,
        },
        "text": {"color": INK, "fontSize": 11},
    }
