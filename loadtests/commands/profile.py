"""``profile``: show how the servers use their time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from loadtests.commands import completion
from loadtests.commands.console import data, err, fail, out, say, waiting
from loadtests.commands.options import Own, Variants, with_own_project
from loadtests.errors import UserError
from loadtests.files import from_here


@with_own_project
def command(
    setup: Annotated[
        str, typer.Argument(help="Name of a setup, or several names: a,b.", autocompletion=completion.setup_list)
    ],
    path: Annotated[str, typer.Option(help="Path to request.")] = "/",
    rate: Annotated[
        float | None, typer.Option(help="Requests per second. The default is as many as the server answers.")
    ] = None,
    duration: Annotated[str, typer.Option(help="Duration of a measurement. Each round has two measurements.")] = "10s",
    rounds: Annotated[int, typer.Option(help="Number of rounds. Each round restarts the servers.")] = 3,
    output: Annotated[Path | None, typer.Option(help="Folder to create.")] = None,
    variant: Variants = None,
    *,
    own: Own,
) -> None:
    """Measure a setup's CPU time by category. Several setups are profiled in turn and compared."""
    with waiting(err) as announce:
        from loadtests.commands.progress import steps
        from loadtests.profile import page, profiling
        from loadtests.records.run.folder import require_new
        from loadtests.report.formats.terminal import print_table
        from loadtests.setups import find
        from loadtests.setups.variants import parse_options

        chosen = find([name.strip() for name in setup.split(",")], parse_options(variant or []))
        if output is not None and len(chosen) > 1:
            raise UserError("--output is the folder of a single profile. Leave it out, or name one setup")
        if output is not None:
            require_new(output)
        plans = [profiling.plan(one, path, rate, (duration, rounds), own, announce) for one in chosen]
    documents, few = [], []
    for plan in plans:
        with steps(err) as progress:
            folder, document = profiling.profile(plan, output, progress)
        documents.append(document)
        if why := page.too_few(document):
            few.append(f"{document['setup']}: {why}")
            say(f"the unfinished profile is in {from_here(folder)}")
        else:
            _print(folder, document)
    if few:
        fail("; ".join(few))
    if len(documents) > 1:
        out.print()
        print_table(page.side_by_side(documents), out)


def _print(folder: Path, document: dict[str, Any]) -> None:
    """Print the tables of a profile and the path of its folder."""
    from loadtests.profile import page
    from loadtests.report.formats.terminal import print_table

    out.print(data(page.title(document), "bold"))
    for role in document["roles"]:
        out.print()
        print_table(page.table(role), out)
    out.print()
    for sentence in page.summary(document):
        say(sentence)
    where = from_here(folder)
    say(f"results and flame graphs: {where}; open its .speedscope.json files in https://www.speedscope.app")
