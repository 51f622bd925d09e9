"""Reports: the terminal's tables, summary.csv, charts, the reST page and the HTML page, from the run folder alone."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadtests.analyse.results import Results
from loadtests.report import page as pages
from loadtests.report.formats import csv as summary
from loadtests.report.formats import html, render, rest, terminal
from loadtests.store import Run, write_bytes, write_text


def write(run: Run, price: float | None = None) -> list[Path]:
    """Writes (or writes anew) all reports of a run into its folder, and returns their paths.

    ``price`` is that of a core-hour, where it is not to be the study's. The same folder and price give the same bytes.
    Charts of an earlier report that this one does not have are removed.
    """
    results = Results(run)
    content = pages.compose(results, price)
    charts = run.path / "charts"
    charts.mkdir(exist_ok=True)
    drawings = {chart.name: render.svg(chart.spec) for chart in content.charts}
    texts = {charts / f"{name}.svg": drawing for name, drawing in drawings.items()}
    texts[run.path / "summary.csv"] = summary.csv_text(results)
    texts[run.path / "index.rst"] = rest.rst(content)
    texts[run.path / "report.html"] = html.html(content, drawings)
    images = {charts / f"{name}.png": render.png(drawing) for name, drawing in drawings.items()}
    for path, text in texts.items():
        write_text(path, text)
    for path, image in images.items():
        write_bytes(path, image)
    for old in set(charts.iterdir()) - texts.keys() - images.keys():
        if old.suffix in (".svg", ".png"):
            old.unlink()
    return sorted([*texts, *images])


def print_report(run: Run, console: Console, price: float | None = None) -> None:
    """Prints the report of a run; ``price`` as ``write`` takes it."""
    terminal.show(pages.compose(Results(run), price), console, str(run.path / "report.html"))
