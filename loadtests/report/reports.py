"""Reports: the terminal's tables, summary.csv, charts, the reST page and the HTML page, from the run folder alone."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadtests.analyse.results import Results
from loadtests.files import make_folder, remove, write_text
from loadtests.records.run.folder import Run
from loadtests.report import page as pages
from loadtests.report.formats import csv as summary
from loadtests.report.formats import html, render, rest, terminal


def write(run: Run, price: float | None = None) -> list[Path]:
    """Writes (or writes anew) all reports of a run into its folder, and returns their paths.

    ``price`` is that of a core-hour, where it is not to be the study's. The same folder and price give the same bytes,
    and a file that holds them already is left alone: a report that is made again changes nothing. Charts of an earlier
    report that this one does not have are removed. Raises UserError where it cannot be written.
    """
    results = Results(run)
    content = pages.compose(results, price)
    charts = run.path / "charts"
    make_folder(charts)
    drawings = {chart.name: render.svg(chart.spec) for chart in content.charts}
    texts = {
        run.path / "summary.csv": summary.csv_text(results),
        run.path / "index.rst": rest.rst(content),
        run.path / "report.html": html.html(content, drawings),
    }
    for path, text in texts.items():
        write_text(path, text)
    scales = {chart.name: render.SMALL_SCALE if chart.summary else render.PNG_SCALE for chart in content.charts}
    images = [path for name, drawing in drawings.items() for path in render.write(charts / name, drawing, scales[name])]
    for old in set(charts.iterdir()) - set(images):
        if old.suffix in (".svg", ".png"):
            remove(old)
    return sorted([*texts, *images])


def print_report(run: Run, console: Console, price: float | None = None, tables: bool = False) -> None:
    """Prints the answer of a run, or with ``tables`` its whole report; ``price`` as ``write`` takes it."""
    show = terminal.show_all if tables else terminal.show
    show(pages.compose(Results(run), price), console, str(run.path / "report.html"))
