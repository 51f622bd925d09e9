"""Vega-Lite specifications to SVG and PNG, without a browser and without a network."""

from __future__ import annotations

from typing import Any

import vl_convert

VEGA_LITE = "6.4"
PNG_SCALE = 2.0  # sharp on dense screens


def svg(spec: dict[str, Any]) -> str:
    """The chart as an SVG document."""
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    return text


def png(drawing: str) -> bytes:
    """An SVG document as a PNG image, ``PNG_SCALE`` pixels to a CSS pixel."""
    data: bytes = vl_convert.svg_to_png(drawing, scale=PNG_SCALE)
    return data
