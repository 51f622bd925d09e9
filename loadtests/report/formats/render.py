"""Vega-Lite specifications to SVG, without a browser and without a network."""

from __future__ import annotations

from typing import Any

import vl_convert

from loadtests.formatting import printable

VEGA_LITE = "6.4"


def svg(spec: dict[str, Any]) -> str:
    """The chart as an SVG document."""
    # Characters that XML forbids end the whole process inside vl-convert.
    text: str = vl_convert.vegalite_to_svg(_printable(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    return text


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(inner) for inner in value]
    return printable(value) if isinstance(value, str) else value
