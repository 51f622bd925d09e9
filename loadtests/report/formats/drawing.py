"""Reduce the SVG charts from vl-convert to half of their size, and write them as files or as elements of a page.

This module removes everything that readers don't see: empty marks and groups, default values, and the names of marks
that aren't setups, because a screen reader treats the chart as one image.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Container

from loadtests.formatting import printable
from loadtests.report.charts.palette import FONT, dark_css

SVG = "http://www.w3.org/2000/svg"
UNUSED = ("role", "aria-label", "aria-roledescription", "aria-hidden", "class", "pointer-events", "version")
DEFAULTS = {
    "opacity": "1",
    "transform": "translate(0,0)",
    "x2": "0",
    "y2": "0",
    "stroke-width": "1",
    "font-weight": "normal",
    "font-family": FONT,  # the root element sets the font
}


def file(document: str, alt: str, labels: Container[str] = ()) -> str:
    """Return the drawing as a separate SVG document, which uses dark colours if the reader's system does.

    A mark's description (``label`` or ``label: text``) becomes its title if the label is one of ``labels``. Other
    descriptions are removed.
    """
    root = _image(document, alt, labels)
    style = ET.Element(f"{{{SVG}}}style")
    style.text = dark_css("", document)
    root.insert(0, style)
    return _text(root)


def inlined(document: str, alt: str, prefix: str, labels: Container[str]) -> str:
    """Return the drawing as an SVG element of a page. The style sheet of the page contains the dark colours.

    ``document`` may also be the return value of ``file``. ``prefix`` makes the ids unique within the page.
    """
    root = _image(document, alt, labels)
    for style in root.findall(f"{{{SVG}}}style"):
        root.remove(style)
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{prefix}-{value}")
            elif value.startswith("url(#"):
                element.set(key, value.replace("url(#", f"url(#{prefix}-"))
    return _text(root)


def _image(document: str, alt: str, labels: Container[str]) -> ET.Element:
    """Return the reduced drawing as a single image that ``alt`` describes."""
    ET.register_namespace("", SVG)
    root = ET.fromstring(document)
    if root.get("role") != "img":  # a drawing with this role is already reduced
        _lighten(root, labels)
    root.attrib.update({"role": "img", "aria-label": printable(alt), "font-family": FONT})
    return root


def _text(root: ET.Element) -> str:
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _lighten(element: ET.Element, labels: Container[str]) -> None:
    for child in element:
        if _tag(child) not in ("defs", "clipPath"):
            _lighten(child, labels)
    element[:] = [child for child in element if _draws(child)]
    _name(element, labels)
    for key, value in DEFAULTS.items():
        if element.get(key) == value:
            del element.attrib[key]


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _draws(element: ET.Element) -> bool:
    if element.get("display") == "none":
        return False
    if _tag(element) == "path":
        return bool(element.get("d")) and ("fill" in element.attrib or "stroke" in element.attrib)
    return bool(len(element) or element.text) or _tag(element) not in ("g", "text")


def _name(element: ET.Element, labels: Container[str]) -> None:
    """Replace the description of a setup's mark with a title, and remove other descriptions."""
    description = element.get("aria-label", "")
    for key in UNUSED:
        element.attrib.pop(key, None)
    if description.partition(": ")[0] in labels:
        title = ET.Element(f"{{{SVG}}}title")
        title.text = description
        title.tail, element.text = element.text, None
        element.insert(0, title)
