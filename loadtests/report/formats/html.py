"""The HTML page: one file that needs no network.

Charts are embedded as SVG, not as Vega programs: a tenth of the bytes, and they follow the page's theme. The page
draws those of rows itself, for they must fit a phone.
"""

from __future__ import annotations

from loadtests.report.charts.palette import KINDS, dark_css, kind_css
from loadtests.report.formats.drawing import inlined
from loadtests.report.formats.templates import environment, source
from loadtests.report.view import Page


def html(page: Page, drawings: dict[str, str]) -> str:
    """The page's text. ``drawings`` are the charts' SVG documents by name."""
    inline = {
        chart.name: inlined(drawings[chart.name], chart.alt, chart.name, page.labels)
        for chart in page.charts
        if chart.panels is None
    }
    template = environment().get_template("report.html.j2")
    css = source("report.css") + kind_css() + dark_css("svg ")
    return template.render(page=page, drawings=inline, kinds=list(KINDS), css=css, javascript=source("report.js"))
