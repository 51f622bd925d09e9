"""``origin``: run a slow or failing origin until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import err, say, waiting


def command(
    recipe: Annotated[
        str | None,
        typer.Argument(help="Recipe file, or the name of a recipe: fast, flaky, relapse, slow or stumble."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 for any free port.")] = 8100,
    url_file: Annotated[
        Path | None, typer.Option(help="File to write the URL to. The command removes the file at the end.")
    ] = None,
) -> None:
    """Run a test upstream (origin) that is slow or fails, until Ctrl-C.

    A recipe describes how slow the origin is and when it fails.
    """
    with waiting(err):
        from loadtests.services.origin import listening, recipes

        played = recipes.load(recipe) if recipe is not None else ()
    listening.serve(played, port, url_file, say)
