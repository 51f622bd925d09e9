"""Test the statistics with simulated data whose true values are known: ``python -m tools.simulation``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import fail, out, waiting
from loadtests.errors import UserError, require_within
from tools.simulation import evaluate


def main(
    output: Annotated[Path, typer.Option(help="The folder for the tables.")] = Path("docs/statistics"),
    repetitions: Annotated[int, typer.Option(help="The number of simulated studies for each row.")] = 4000,
    seed: Annotated[int, typer.Option(help="The seed. The same seed creates the same tables.")] = 2016,
) -> None:
    """Test the statistics with simulated data: how often are verdicts false, and how often are effects missed?"""
    require_within("--repetitions", repetitions, 10, 1_000_000)
    require_within("--seed", seed, 0, 2**32 - 1)
    with waiting(out) as progress:
        progress("simulating")
        evaluate.main(output, repetitions, seed, out.print)


if __name__ == "__main__":
    try:
        typer.run(main)
    except UserError as error:
        fail(str(error))
