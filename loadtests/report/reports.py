"""All reports of a run, from its folder alone: terminal, summary.csv, charts, the reST page and the HTML page."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadtests.analyse.results import Results
from loadtests.files import make_folder, remove, write_text
from loadtests.records.run.folder import Run
from loadtests.report import page as pages
from loadtests.report.formats import csv as summary
from loadtests.report.formats import drawing, html, render, rest, terminal


def write(run: Run, price: float | None = None) -> list[Path]:
    """Writes all reports of a run into its folder and returns their paths.

    ``price`` of a core-hour overrides the study's. A file that is already as it should be is left alone, and charts
    that the report no longer has are removed. Raises UserError where it cannot write.
    """
    results = Results(run)
    page = pages.compose(results, price)
    charts = run.path / "charts"
    make_folder(charts)
    drawings = {one.name: drawing.file(render.svg(one.spec), one.alt, page.labels) for one in page.charts}
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


def print_report(run: Run, console: Console, price: float | None = None, tables: bool = False) -> None:
    """Prints the answer of a run, or with ``tables`` all of its tables."""
    show = terminal.show_all if tables else terminal.show
    show(pages.compose(Results(run), price), console, str(run.path / "report.html"))
