"""``aa``: a setup against itself. All that it finds is noise."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import fail, out, row, say_wrapped
from loadtests.commands.options import Anyway, Minutes, OutputFolder, SetupName
from loadtests.commands.running import carry_out
from loadtests.commands.waiting import waiting
from loadtests.errors import UserError
from loadtests.formatting import DASH, ratio, ratio_interval
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.analyse.compare.within import Comparison
    from loadtests.analyse.noise import AAReport
    from loadtests.analyse.results import Results
    from loadtests.records.run.folder import Run


def command(
    setup: SetupName,
    blocks: Annotated[int | None, typer.Option(help="How many blocks; two at the least, and 10 by default.")] = None,
    minutes: Minutes = None,
    duration: Annotated[
        str | None, typer.Option(help="How long each trial measures; by default as in first-look.")
    ] = None,
    output: OutputFolder = None,
    anyway: Anyway = False,
) -> None:
    """Run a setup against itself: the noise of this machine, and how often a verdict is wrong."""
    with waiting(out) as told:
        from loadtests.measure.prepare import prepare
        from loadtests.measure.study_options import require_one_length
        from loadtests.plan.against_itself import against_itself

        require_one_length(blocks, minutes)
        execution = prepare(against_itself(setup, blocks, duration, minutes), output, None, told=told)
    carry_out(execution, anyway)
    if not print_aa(execution.run):
        fail("a difference was found where there is none")


def print_aa(run: Run) -> bool:
    """Prints the verdicts and the noise of a single trial; returns whether no difference was found, as should be.

    Raises UserError where a label has no valid trial, or nothing else can be told.
    """
    from loadtests.analyse.noise import aa_report
    from loadtests.analyse.results import Results

    results = Results(run)
    _require_valid(results, run)
    try:
        report = aa_report(results.judged, results.study.delta)
    except ValueError as error:
        raise UserError(f"{run.path}: {error}") from None
    table = grid(("test", "metric", "ratio", "95% interval", "verdict", "noise of\na trial", "blocks"), (2, 3, 5, 6))
    for one in report.comparisons:
        table.add_row(*row(_row(results, report, one)))
    print_grid(out, table, results.study.title)
    wrong = len(report.false_verdicts)
    say_wrapped(f"False verdicts: {wrong} of {len(report.comparisons)}. {_swapped(report)}", indent=0)
    return not wrong


def _require_valid(results: Results, run: Run) -> None:
    """Raises UserError where a label has no valid trial, and says which."""
    if not results.trials:
        raise UserError(f"{run.path}: nothing was measured")
    without = [
        label for label in results.labels if not any(results.cells[label, test.name].valid for test in results.tests)
    ]
    if without:
        valid = "no trial is valid" if len(without) == len(results.labels) else f"no trial of {without[0]} is valid"
        raise UserError(f"{run.path}: {valid}, so nothing can be told of noise; its report.html says why")


def _swapped(report: AAReport) -> str:
    if report.studies == 1:
        return "A single block has figures of both labels, which tells nothing of noise."
    return (
        f"With the labels swapped at random within the blocks, {report.false_share:.1%} of {report.studies} such "
        "studies held one; 5% is what the intervals allow."
    )


def _row(results: Results, report: AAReport, one: Comparison) -> tuple[str, ...]:
    from loadtests.plan.kinds import metric as metric_of

    # A block's log ratio holds the noise of two trials; a single one tells nothing of it.
    spread = report.spread.get((one.test, one.metric))
    return (
        one.test,
        metric_of(one.metric).short or results.called(one.test, one.metric),
        ratio(one.ratio),
        ratio_interval(one) or "open",
        one.verdict.value,
        DASH if spread is None else f"{spread / sqrt(2):.1%}",
        str(one.blocks),
    )
