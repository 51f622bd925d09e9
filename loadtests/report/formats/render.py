"""Convert Vega-Lite specifications to SVG, without a browser and without a network."""

from __future__ import annotations

import re
from typing import Any

import vl_convert

from loadtests.formatting import printable

VEGA_LITE = "6.4"
GEOMETRY = re.compile(r' (?:d|transform|x2|y2|width|height)="[^"]*"')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


def svg(spec: dict[str, Any]) -> str:
    # vl-convert ends the whole process if a text contains characters that XML forbids.
    text: str = vl_convert.vegalite_to_svg(_printable(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    # Round coordinates to a hundredth of a pixel. Without rounding, a third of the file would be digits.
    return GEOMETRY.sub(lambda attribute: LONG_NUMBER.sub(_hundredths, attribute[0]), text)


def _hundredths(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:g}"


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(inner) for inner in value]
    return printable(value) if isinstance(value, str) else value
