"""``compare``: compare two runs, or the setups of one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import err, fail, out, say, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.errors import UserError


def command(
    run: Annotated[Path, typer.Argument(help="Run folder, or its name in results/.")],
    other: Annotated[Path | None, typer.Argument(help="Second run, to compare with the first run.")] = None,
    setups: Annotated[
        str,
        typer.Option(
            help="Compare only these setups: a,b. Within one run, the first setup is the baseline.",
        ),
    ] = "",
    fail_if: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 if a setup is significantly slower ('slower>5%') or fails more ('failures>1%')."
        ),
    ] = None,
    as_json: AsJson = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print GitHub Markdown.")] = False,
) -> None:
    """Compare two runs, or the setups of one run.

    For two runs, the command also shows other differences, such as the machine.
    """
    if as_json and markdown:
        raise UserError("--json and --markdown can't be combined. Leave one out")
    with waiting(err, "comparing"):
        from loadtests.analyse.compare.sides import compare_sides
        from loadtests.report.formats import comparison

        compared = compare_sides(run, other, setups, fail_if)
    if as_json:
        say_json(compared.to_json())
    elif markdown:
        say(comparison.markdown(compared))
    else:
        comparison.print_comparison(compared, out)
    if compared.failure:
        fail(compared.failure)
