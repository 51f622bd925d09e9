"""Vega-Lite specifications to SVG and PNG, without a browser and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import vl_convert

from loadtests.files import holds, write_bytes, write_text
from loadtests.formatting import printable
from loadtests.report.charts.palette import FONT

VEGA_LITE = "6.4"
PNG_SCALE = 2.0  # sharp on dense screens
SMALL_SCALE = 1.0  # of charts of which there are many: half a megabyte each would be more than the rest of a run
# It comes with vl-convert, so that a picture is alike on a machine that has Arial and on one that has not.
FONT_OF_PNG = "Liberation Sans"


def svg(spec: dict[str, Any]) -> str:
    """The chart as an SVG document."""
    # What no XML can hold, vl-convert does not refuse: it ends the process.
    text: str = vl_convert.vegalite_to_svg(_printable(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    return text


def png(drawing: str, scale: float = PNG_SCALE) -> bytes:
    """An SVG document as a PNG image, ``scale`` pixels to a CSS pixel."""
    data: bytes = vl_convert.svg_to_png(drawing.replace(FONT, FONT_OF_PNG), scale=scale)
    return data


def write(name: Path, drawing: str, scale: float = PNG_SCALE) -> list[Path]:
    """Writes an SVG document as ``<name>.svg`` and ``<name>.png`` and returns the paths.

    The picture is drawn anew only where the document is not the one that is there: another machine rounds other pixels,
    which is no news. Raises UserError.
    """
    document, picture = (name.with_name(name.name + suffix) for suffix in (".svg", ".png"))
    if not (holds(document, drawing.encode()) and picture.is_file()):
        write_bytes(picture, png(drawing, scale))  # first, for a document says that its picture is there
        write_text(document, drawing)
    return [document, picture]


def _printable(value: Any) -> Any:
    """A specification without what no drawing can hold (``loadtests.formatting.printable``)."""
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(inner) for inner in value]
    return printable(value) if isinstance(value, str) else value
