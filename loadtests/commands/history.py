"""``history``: a study's results over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import err, out, waiting


def command(
    study: Annotated[
        str,
        typer.Argument(help="Name of a study.", autocompletion=completion.studies),
    ],
    output: Annotated[
        Path | None, typer.Option(help="SVG file to write; results/history-STUDY.svg by default.")
    ] = None,
) -> None:
    """Draw a study's results over time on one machine.

    Marks changes that are more than noise.
    """
    with waiting(err, "reading the runs"):
        from loadtests import files
        from loadtests.analyse.history import history_of
        from loadtests.report.formats import history

        found = history_of(study, files.RESULTS)
        written = history.write(found, output)
    history.print_history(found, written, out)
