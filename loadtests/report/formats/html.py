"""The HTML page: one file that needs no network and, but for its highlights, no script.

The charts are embedded as drawings, not as Vega programs: a tenth of the bytes, they take on the page's theme, they
print, and what a script adds (highlighting a setup, the figure under the pointer) is some forty lines.
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
    """The page's text. ``drawings`` are the charts' SVG documents by the charts' names."""
    inline = {chart.name: inlined(drawings[chart.name], chart.alt, chart.name, page.labels) for chart in page.charts}
    template = environment().get_template("report.html.j2")
    return template.render(page=page, drawings=inline, css=source("report.css"), javascript=source("report.js"))


def inlined(document: str, alt: str, prefix: str, labels: Container[str]) -> str:
    """An SVG document as an element of the page.

    To a screen reader it is one image that says ``alt`` (the numbers stand in the tables as well). A mark's
    description, ``label: text``, becomes its title and the name of its setup where the label is one of ``labels``.
    ``prefix`` keeps its ids apart from those of other drawings.
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
    """Takes out what the page says once for all, and turns the mark's description into a title."""
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
