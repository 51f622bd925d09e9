"""Create all reports of a run from its folder: terminal output, summary.csv, charts, a reST page and an HTML page."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Console

from loadtests.analyse.results import Results
from loadtests.files import make_folder, remove, write_text
from loadtests.records.run.folder import Run
from loadtests.report import page as pages
from loadtests.report.formats import csv as summary
from loadtests.report.formats import drawing, html, render, rest, terminal
from loadtests.report.view import Page


def write(run: Run) -> list[Path]:
    """Write all reports of a run into its folder and return their paths.

    Unchanged files aren't written again. Charts that are no longer part of the report are removed.

    Args:
        run: The run, whose folder receives the reports.

    Raises:
        UserError: If a file can't be written.
    """
    results = Results(run)
    page = pages.compose(results)
    charts = run.path / "charts"
    make_folder(charts)
    drawings = _drawings(page)
    texts = {
        run.path / "summary.csv": summary.csv_text(results),
        run.path / "index.rst": rest.rst(page),
        run.path / "report.html": html.html(page, drawings),
        **{charts / f"{name}.svg": text for name, text in drawings.items()},
    }
    for path, text in texts.items():
        write_text(path, text)
    for old in set(charts.iterdir()) - texts.keys():
        if old.suffix in (".svg", ".png"):
            remove(old)
    return sorted(texts)


def html_page(run: Run) -> Path:
    """Return the path of the run's report.html.

    If the file doesn't exist, create the page in a temporary folder. The folder isn't removed, because a browser shows
    the page.
    """
    written = run.path / "report.html"
    if written.exists():
        return written
    page = pages.compose(Results(run))
    made = Path(tempfile.mkdtemp(prefix="report-")) / f"{run.path.resolve().name}.html"
    write_text(made, html.html(page, _drawings(page)))
    return made


def print_report(run: Run, console: Console, tables: bool = False, where: str = "") -> None:
    """Print the answer of a run, and with ``tables`` also all of its tables.

    ``where`` replaces the path of the HTML page in the output.
    """
    show = terminal.show_all if tables else terminal.show
    show(pages.compose(Results(run)), console, where or str(run.path / "report.html"))


def _drawings(page: Page) -> dict[str, str]:
    """Return the SVG document of each chart, by the chart's name."""
    return {one.name: drawing.file(render.svg(one.spec), one.alt, page.labels) for one in page.charts}
