"""``aa``: a setup against itself. All that it finds is noise."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import fail, out, row
from loadtests.commands.options import OutputFolder, SetupName
from loadtests.commands.running import carry_out
from loadtests.errors import UserError
from loadtests.grid import grid, print_grid
from loadtests.words import ratio, ratio_interval

if TYPE_CHECKING:
    from loadtests.analyse.compare.within import Comparison
    from loadtests.analyse.noise import AAReport
    from loadtests.analyse.results import Results
    from loadtests.store import Run


def command(
    setup: SetupName,
    blocks: Annotated[int, typer.Option(help="How many blocks; two at the least.")] = 10,
    duration: Annotated[
        str | None, typer.Option(help="How long each trial measures; by default as in first-look.")
    ] = None,
    output: OutputFolder = None,
) -> None:
    """Run a setup against itself: the noise of this machine, and how often a verdict is wrong."""
    from loadtests.measure.prepare import prepare
    from loadtests.plan.against_itself import against_itself

    execution = prepare(against_itself(setup, blocks, duration), output, None)
    carry_out(execution)
    if not print_aa(execution.run):
        fail("a difference was found where there is none")


def print_aa(run: Run) -> bool:
    """Prints the verdicts and the noise of a single trial; returns whether no difference was found, as should be.

    Raises UserError where a label has no valid trial.
    """
    from loadtests.analyse.noise import aa_report
    from loadtests.analyse.results import Results

    results = Results(run)
    try:
        report = aa_report(results.judged, results.study.delta)
    except ValueError as error:
        raise UserError(f"{run.path}: {error}") from None
    table = grid(("test", "metric", "ratio", "95% interval", "verdict", "noise of a trial", "blocks"), (2, 3, 5, 6))
    for one in report.comparisons:
        table.add_row(*row(_row(results, report, one)))
    print_grid(out, table, results.study.title)
    wrong = len(report.false_verdicts)
    out.print(
        f"False verdicts: {wrong} of {len(report.comparisons)}. With the labels swapped at random within the blocks, "
        f"{report.false_share:.1%} of {report.studies} such studies held one; 5% is what the intervals allow.",
        soft_wrap=True,
    )
    return not wrong


def _row(results: Results, report: AAReport, one: Comparison) -> tuple[str, ...]:
    # A block's log ratio holds the noise of two trials.
    noise = report.spread.get((one.test, one.metric), 0.0) / sqrt(2)
    return (
        one.test,
        results.called(one.test, one.metric),
        ratio(one.ratio),
        ratio_interval(one) or "open",
        one.verdict.value,
        f"{noise:.1%}",
        str(one.blocks),
    )
