"""The HTML page: one file that needs no network.

Charts are embedded as SVG, not as Vega programs: a tenth of the bytes, and they follow the page's theme.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Container

from loadtests.formatting import printable
from loadtests.report.charts.palette import FONT
from loadtests.report.formats.templates import environment, source
from loadtests.report.view import Page

SVG = "http://www.w3.org/2000/svg"


def html(page: Page, drawings: dict[str, str]) -> str:
    """The page's text. ``drawings`` are the charts' SVG documents by name."""
    inline = {chart.name: inlined(drawings[chart.name], chart.alt, chart.name, page.labels) for chart in page.charts}
    template = environment().get_template("report.html.j2")
    return template.render(page=page, drawings=inline, css=source("report.css"), javascript=source("report.js"))


def inlined(document: str, alt: str, prefix: str, labels: Container[str]) -> str:
    """An SVG document as an element of the page, for a screen reader one image described by ``alt``.

    The description of a mark, ``label: text``, becomes its title, and its setup where the label is one of ``labels``.
    ``prefix`` makes its ids unique.
    """
    ET.register_namespace("", SVG)
    root = ET.fromstring(document)
    for element in root.iter():
        _plain(element, labels)
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{prefix}-{value}")
            elif value.startswith("url(#"):
                element.set(key, value.replace("url(#", f"url(#{prefix}-"))
    root.set("role", "img")
    root.set("aria-label", printable(alt))
    return ET.tostring(root, encoding="unicode")


def _plain(element: ET.Element, labels: Container[str]) -> None:
    """Removes attributes that the page does not need, and turns the description into a title."""
    label, _, text = element.attrib.pop("aria-label", "").partition(": ")
    for key in ("role", "aria-roledescription", "aria-hidden", "class", "pointer-events"):
        element.attrib.pop(key, None)
    if element.get("font-family") == FONT:
        del element.attrib["font-family"]
    if label in labels:
        element.set("data-setup", label)
        title = ET.Element(f"{{{SVG}}}title")
        title.text = f"{label}: {text}"
        title.tail, element.text = element.text, None
        element.insert(0, title)
