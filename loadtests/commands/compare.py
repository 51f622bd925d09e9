"""``compare``: two runs, or the setups of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import err, fail, out, say_json, waiting
from loadtests.commands.options import AsJson


def command(
    run: Annotated[
        Path, typer.Argument(help="Run folder, or the name of one in results/.", autocompletion=completion.runs)
    ],
    other: Annotated[
        Path | None, typer.Argument(help="Run to compare it with.", autocompletion=completion.runs)
    ] = None,
    setups: Annotated[
        str,
        typer.Option(
            help="Only these setups: a,b. Within one run, each against the first.", autocompletion=completion.setup_list
        ),
    ] = "",
    fail_if: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 if a setup is significantly slower ('slower>5%'), or fails more ('failures>1%')."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or the setups of one run.

    Also shows what else differs between two runs.
    """
    with waiting(err, "comparing"):
        from loadtests.analyse.compare.sides import compare_sides
        from loadtests.report.formats.comparison import print_comparison

        compared = compare_sides(run, other, setups, fail_if)
    say_json(compared.to_json()) if as_json else print_comparison(compared, out)
    if compared.failure:
        fail(compared.failure)
