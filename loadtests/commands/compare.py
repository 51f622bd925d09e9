"""``compare``: compare two runs, or the setups of one run."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands import completion
from loadtests.commands.console import err, fail, out, say, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.errors import UserError


class Format(str, enum.Enum):
    """A machine-readable output format."""

    JUNIT = "junit"
    BMF = "bmf"
    GITHUB = "github"


def command(
    run: Annotated[Path, typer.Argument(help="Run folder, or its name in results/.", autocompletion=completion.runs)],
    other: Annotated[
        Path | None, typer.Argument(help="Second run, to compare with the first run.", autocompletion=completion.runs)
    ] = None,
    setups: Annotated[
        str,
        typer.Option(
            help="Compare only these setups: a,b. Within one run, the first setup is the baseline.",
            autocompletion=completion.setup_list,
        ),
    ] = "",
    fail_if: Annotated[
        str | None,
        typer.Option(
            help="Exit with status 1 if a setup is significantly slower ('slower>5%') or fails more ('failures>1%')."
        ),
    ] = None,
    as_json: AsJson = False,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Print JUnit XML, the Bencher Metric Format (only the second run or setups), or GitHub Markdown.",
        ),
    ] = None,
) -> None:
    """Compare two runs, or the setups of one run.

    For two runs, the command also shows other differences, such as the machine.
    """
    if as_json and form:
        raise UserError("--json and --format can't be combined. Leave one out")
    with waiting(err, "comparing"):
        from loadtests.analyse.compare.sides import compare_sides
        from loadtests.report.formats import pull_request
        from loadtests.report.formats.comparison import print_comparison

        compared = compare_sides(run, other, setups, fail_if)
    if as_json:
        say_json(compared.to_json())
    elif form is None:
        print_comparison(compared, out)
    elif form is Format.BMF:
        say_json(pull_request.bmf(compared))
    else:
        say(pull_request.junit(compared) if form is Format.JUNIT else pull_request.github(compared))
    if compared.failure:
        fail(compared.failure)
