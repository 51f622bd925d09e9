"""``report``: print the report of a run."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import err, out, say, waiting


def command(
    run: Annotated[Path, typer.Argument(help="Run folder, or its name in results/.")],
    tables: Annotated[bool, typer.Option("--tables", help="Print all tables of the report.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Write the page, charts and summary.csv again.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open report.html in a browser (BROWSER, if set).")] = False,
) -> None:
    """Print the report of a run.

    The command doesn't write into the run's folder, except with --rebuild.
    """
    with waiting(err, "reading the run"):
        from loadtests.records.run.folder import Run
        from loadtests.report import reports

        folder = Run.open(run)
        if rebuild:
            reports.write(folder)
    is_written = (folder.path / "report.html").exists()
    where = "" if is_written else "not written yet. Write it with --rebuild, or open it with --open"
    reports.print_report(folder, out, tables, where)
    if show:
        page = reports.html_page(folder).resolve()
        opened = webbrowser.open(page.as_uri())
        say(f"Opened {page}" if opened else f"no browser could be opened. Set BROWSER, or open {page} yourself")
