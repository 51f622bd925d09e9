"""Write charts as SVG, a third of the size of vl-convert's output: as a separate file, or as an element of a page.

It removes invisible elements: empty marks and groups, defaults, and the names of marks that aren't setups, because a
screen reader treats the chart as one image. Attributes that all members of a group have move to the group.
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
    "font-family": FONT,  # set on the root element
}
INHERITED = {
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-miterlimit",
    "text-anchor",
    "font-size",
    "font-weight",
    "font-style",
}


def file(document: str, alt: str, labels: Container[str] = ()) -> str:
    """Return the drawing as a separate document, which is dark if the reader's system is.

    A mark's description, ``label: text``, becomes its title. If the label is one of ``labels``, it also becomes its
    setup.
    """
    root = _image(document, alt, labels)
    style = ET.Element(f"{{{SVG}}}style")
    style.text = dark_css("", document)
    root.insert(0, style)
    return _text(root)


def inlined(document: str, alt: str, prefix: str, labels: Container[str]) -> str:
    """Return the drawing, or its ``file``, as an element of a page. The page's style sheet can make it dark.

    ``prefix`` makes its ids unique.
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
    """Return the drawing as one image that ``alt`` describes."""
    ET.register_namespace("", SVG)
    root = ET.fromstring(document)
    if root.get("role") != "img":  # unless it is already written in this form
        _lighten(root, labels)
    root.attrib.update({"role": "img", "aria-label": printable(alt), "font-family": FONT})
    return root


def _text(root: ET.Element) -> str:
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _lighten(element: ET.Element, labels: Container[str]) -> None:
    for child in element:
        if _tag(child) not in ("defs", "clipPath"):
            _lighten(child, labels)
    kept: list[ET.Element] = []
    for child in element:
        if _draws(child):
            kept += child if _tag(child) == "g" and not child.attrib else [child]
    element[:] = kept
    _name(element, labels)
    for key, value in DEFAULTS.items():
        if element.get(key) == value:
            del element.attrib[key]
    if _tag(element) == "g":
        _merge(element)
        _hoist(element)


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _draws(element: ET.Element) -> bool:
    if element.get("display") == "none":
        return False
    if _tag(element) == "path":
        return bool(element.get("d")) and ("fill" in element.attrib or "stroke" in element.attrib)
    return bool(len(element) or element.text) or _tag(element) not in ("g", "text")


def _name(element: ET.Element, labels: Container[str]) -> None:
    """Replace the description of a setup's mark with a title."""
    label, _, text = element.get("aria-label", "").partition(": ")
    for key in UNUSED:
        element.attrib.pop(key, None)
    if label in labels:
        element.set("data-setup", label)
        title = ET.Element(f"{{{SVG}}}title")
        title.text = f"{label}: {text}"
        title.tail, element.text = element.text, None
        element.insert(0, title)


def _merge(group: ET.Element) -> None:
    """Replace a group that contains only another group with the inner group."""
    if len(group) != 1 or _tag(only := group[0]) != "g" or not group.attrib.keys() <= {"transform", *INHERITED}:
        return
    transforms = [one for one in (group.get("transform"), only.get("transform")) if one]
    group.attrib.update(only.attrib)
    if transforms:
        group.set("transform", " ".join(transforms))
    group[:] = list(only)


def _hoist(group: ET.Element) -> None:
    """Move attributes that all members have to the group."""
    if len(group) < 2:
        return
    common = set.intersection(*(set(member.attrib.items()) for member in group))
    for key, value in sorted(common):
        if key in INHERITED:
            group.set(key, value)
            for member in group:
                del member.attrib[key]
