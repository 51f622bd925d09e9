"""Write the HTML page: one file that needs neither a network nor scripts.

Charts are embedded as SVG, not as Vega programs, because SVG is a tenth of the size and follows the page's theme.
"""

from __future__ import annotations

from loadtests.report.charts.palette import dark_css
from loadtests.report.formats.drawing import inlined
from loadtests.report.formats.templates import environment, source
from loadtests.report.view import Page


def html(page: Page, drawings: dict[str, str]) -> str:
    """Return the text of the HTML page. ``drawings`` contains the SVG document of each chart, by the chart's name."""
    inline = {chart.name: inlined(drawings[chart.name], chart.alt, chart.name, page.labels) for chart in page.charts}
    css = source("report.css") + dark_css("svg ")
    return environment().get_template("report.html.j2").render(page=page, drawings=inline, css=css)
