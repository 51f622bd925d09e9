"""``profile``: where the servers' time goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import data, err, out, say, waiting
from loadtests.commands.options import Own, SetupName, with_own_project


@with_own_project
def command(
    setup: SetupName,
    path: Annotated[str, typer.Option(help="Path to request.")] = "/",
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    duration: Annotated[str, typer.Option(help="Duration of each of the three measurements of a round.")] = "10s",
    rounds: Annotated[int, typer.Option(help="Number of rounds; each starts the servers again.")] = 3,
    output: Annotated[Path | None, typer.Option(help="Folder to create.")] = None,
    *,
    own: Own,
) -> None:
    """Profile a setup: CPU time by category, a flame graph."""
    with waiting(err) as announce:
        from loadtests.commands.progress import steps
        from loadtests.profile import page, profiling
        from loadtests.report.formats.terminal import print_table

        plan = profiling.plan(setup, path, rate, (duration, rounds), own, announce)
    with steps(err) as progress:
        folder, document = profiling.profile(plan, output, progress)
    out.print(data(page.title(document), "bold"))
    for role in document["roles"]:
        out.print()
        print_table(page.table(role), out)
    out.print()
    for sentence in page.summary(document):
        say(sentence)
    where = os.path.relpath(folder)
    say(f"flame graphs and the figures: {where}; open its .speedscope.json files in https://www.speedscope.app")
