"""``profile``: show how the servers use their time."""

from __future__ import annotations

from typing import Annotated

import typer

from loadtests.commands.console import data, err, out, say, waiting
from loadtests.commands.options import Own, Variants, with_own_project
from loadtests.files import from_here


@with_own_project
def command(
    setup: Annotated[str, typer.Argument(help="Name of a setup, or several names: a,b.")],
    path: Annotated[str, typer.Option(help="Path to request.")] = "/",
    duration: Annotated[str, typer.Option(help="Duration of the load on each setup.")] = "30s",
    variant: Variants = None,
    *,
    own: Own,
) -> None:
    """Measure a setup's CPU time by category. Several setups are profiled in turn and compared."""
    with waiting(err) as announce:
        from loadtests.commands.progress import steps
        from loadtests.profile import profiling, shares
        from loadtests.report.formats.terminal import print_table
        from loadtests.setups import find
        from loadtests.setups.variants import parse_options

        chosen = find([name.strip() for name in setup.split(",")], parse_options(variant or []))
        plans = [profiling.plan(one, path, duration, own, announce) for one in chosen]
    documents = []
    for plan in plans:
        with steps(err) as progress:
            folder, document = profiling.profile(plan, progress)
        documents.append(document)
        out.print(data(f"CPU time of {document['label']} for {path}", "bold"))
        for role in document["roles"]:
            out.print()
            print_table(shares.table(role), out)
        out.print()
        say(f"The setup answered {document['answered_per_s']:,.0f} requests/s.")
        for remark in document["notes"]:
            say(remark)
        say(f"results: {from_here(folder)}; open its .speedscope.json file in https://www.speedscope.app")
    if len(documents) > 1:
        out.print()
        print_table(shares.side_by_side(documents), out)
