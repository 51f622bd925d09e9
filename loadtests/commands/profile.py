"""``profile``: where the servers' time goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import data, err, out, say
from loadtests.commands.options import SetupName
from loadtests.commands.own_project import Own, with_own_project
from loadtests.commands.waiting import waiting

if TYPE_CHECKING:
    from loadtests.profile.page import ProfilePage


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
    """Say where the servers' time goes: shares of their CPU time, threads that wait, flame graphs."""
    with waiting(err) as told:
        from loadtests.commands.progress import steps
        from loadtests.profile import profiling

        plan = profiling.plan(setup, path, rate, duration, rounds, own, told)
    with steps(err) as progress:
        folder, page = profiling.profile(plan, output, progress)
    _print(page)
    say(f"flame graphs and all else: {os.path.relpath(folder / 'index.html')}")


def _print(page: ProfilePage) -> None:
    """The tables and the summary of the page."""
    from loadtests.report.formats.terminal import print_table

    out.print(data(page.title, "bold"))
    for role in page.roles:
        out.print()
        print_table(role.table(page.columns), out)
    out.print()
    for sentence in page.summary:
        say(sentence)
