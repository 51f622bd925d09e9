"""Define the colours, shapes and line patterns of all charts.

A setup looks the same in all charts of a run. On dark pages, a style sheet replaces the colours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

# Okabe and Ito's colours, which people with any kind of colour vision can distinguish (jfly.uni-koeln.de/color). Yellow
# and black are left out, and sky blue and orange are darker, for a contrast of 3 to 1 on light and dark pages (WCAG 2).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#3592C8", "#B97F00", "#8A8A8A")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")

# The names of interfaces in legends. The contrast of KIND_COLOURS is at least 3 to 1 on light and dark pages, even in
# front of bands.
INTERFACES = {
    "wsgi": "WSGI",
    "asgi": "ASGI",
    "asgi-layer": "ASGI over a channel layer",
}
PEER = "WebSocket peer"
BOLT = "django-bolt"  # An HTTP peer. It looks like a WebSocket peer, because no chart contains both kinds.
KIND_COLOURS = ("#00639C", "#B34700", "#006B4F", "#8C2D5A")

# The colours on light pages. DARK contains their replacements on dark pages.
INK = "#1b1f24"
MUTED = "#5c6570"
GRID = "#dde1e6"
BAND = "#c9d3de"
NOISE = "#9fb0c2"
PAPER = "#fdfdfe"

# These colours also differ in lightness, so that a stacked bar is readable in grey.
ROLE_COLOURS = ("#0072B2", "#B97F00", "#8C2D5A", "#3592C8", "#8A8A8A")

# The colours of a heat map, in one hue, from the worst to the best figure. Dark pages reverse their lightness.
RAMP = ("#e3eef6", "#c3dcec", "#9cc6e0", "#6cabd0", "#4a96c4", "#1f6899", "#0b4468")
ON_RAMP = (INK,) * 5 + (PAPER,) * 2

DARK = {
    INK: "#e6e9ed",
    MUTED: "#a3acb8",
    GRID: "#343b44",
    BAND: "#36424f",
    NOISE: "#566778",
    PAPER: "#14181d",
    **dict(zip(KIND_COLOURS, ("#6bb8f0", "#ff9d5c", "#4fd1a5", "#e9a0c6"), strict=True)),
    **dict(zip(RAMP, ("#1d2b37", "#1f394b", "#214860", "#245876", "#29688c", "#5aa9d6", "#a5d6f2"), strict=True)),
}

# The letters of these fonts are as wide as in the font with which vl-convert measures the width of texts.
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


@dataclasses.dataclass(frozen=True)
class Look:
    """The colour, line pattern and point shape of a setup in all charts of a run."""

    colour: str
    dash: tuple[int, ...]
    shape: str


def looks(labels: Sequence[str]) -> dict[str, Look]:
    """Return the look of each label, which depends on the label's place in the study."""
    return {
        label: Look(
            COLOURS[place % len(COLOURS)],
            DASHES[place // len(COLOURS) % len(DASHES)],
            SHAPES[(place + place // len(COLOURS)) % len(SHAPES)],
        )
        for place, label in enumerate(labels)
    }


KINDS = {
    kind: Look(colour, (1, 0), shape)
    for kind, colour, shape in zip((*INTERFACES.values(), PEER), KIND_COLOURS, SHAPES, strict=False)
}
KINDS[BOLT] = KINDS[PEER]


def kind(interface: str) -> str:
    """Return the name that a chart's legend shows for a setup's interface."""
    return BOLT if interface == "bolt" else INTERFACES.get(interface, PEER)


# The Vega-Lite configuration of all charts. The margins have room for labels in a reader's font that is wider.
CONFIG: dict[str, Any] = {
    "background": PAPER,
    "font": FONT,
    "padding": {"left": 24, "right": 24, "top": 12, "bottom": 12},
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


def dark_css(scope: str, document: str | None = None) -> str:
    """Return a style sheet that replaces the colours of SVG drawings on dark pages.

    ``scope`` is the start of each CSS selector. If ``document`` isn't None, the style sheet contains only the colours
    of this drawing.
    """
    rules = "".join(
        f'{scope}[{key}="{light}"]{{{key}:{dark}}}'
        for light, dark in DARK.items()
        for key in ("fill", "stroke")
        if document is None or f'{key}="{light}"' in document
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"
