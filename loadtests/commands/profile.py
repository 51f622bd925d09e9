"""``profile``: where the servers' time goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import data, err, out, say
from loadtests.commands.options import SetupName
from loadtests.commands.own_project import Own, with_own_project
from loadtests.commands.waiting import waiting


@with_own_project
def command(
    setup: SetupName,
    path: Annotated[str, typer.Option(help="What to ask for.")] = "/",
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    duration: Annotated[str, typer.Option(help="How long each load lasts; there are three a round.")] = "10s",
    rounds: Annotated[int, typer.Option(help="How many rounds; each starts the servers afresh.")] = 3,
    output: Annotated[Path | None, typer.Option(help="The folder to make.")] = None,
    *,
    own: Own,
) -> None:
    """Profile a setup under load: CPU time by category, waiting threads, a flame graph."""
    with waiting(err) as told:
        from loadtests.commands.progress import steps
        from loadtests.profile import page, profiling
        from loadtests.report.formats.terminal import print_table

        plan = profiling.plan(setup, path, rate, (duration, rounds), own, told)
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
