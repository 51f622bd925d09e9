"""A run of one setup against its copy (A/A) in the terminal: the noise of a trial and the false verdicts."""

from __future__ import annotations

from math import sqrt

from rich.console import Console
from rich.text import Text

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.noise import AAReport, aa_report
from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.formatting import DASH, ratio, ratio_interval
from loadtests.plan.kinds import metric as metric_of
from loadtests.records.run.folder import Run
from loadtests.report.terminal_tables import grid, print_grid

COLUMNS = ("test", "metric", "ratio", "95% interval", "verdict", "noise of\na trial", "blocks")


def print_noise(run: Run, console: Console) -> int:
    """Prints the comparisons of the two labels and the noise of one trial; returns the number of false verdicts.

    Raises UserError where a label has no valid trial, or no block has valid trials of both.
    """
    if why := missing(run):
        raise UserError(f"{run.path}: {why}")
    results = Results(run)
    report = aa_report(results.judged, results.study.delta)
    table = grid(COLUMNS, right=(2, 3, 5, 6))
    for one in report.comparisons:
        table.add_row(*map(Text, _row(results, report, one)))
    print_grid(console, table, results.study.title)
    wrong = len(report.false_verdicts)
    console.print(Text(f"False verdicts: {wrong} of {len(report.comparisons)}. {_chance(report)}"))
    return wrong


def missing(run: Run) -> str:
    """Why the noise of a run is unknown; empty where it is known."""
    results = Results(run)
    if not results.trials:
        return "nothing was measured"
    without = [
        label for label in results.labels if not any(results.cells[label, test.name].valid for test in results.tests)
    ]
    if without:
        valid = "no trial is valid" if len(without) == len(results.labels) else f"no trial of {without[0]} is valid"
        return f"{valid}, so the noise is unknown; its report.html says why"
    try:
        aa_report(results.judged, results.study.delta)
    except ValueError as error:
        return str(error)
    return ""


def _chance(report: AAReport) -> str:
    if report.studies == 1:
        return "A single block with figures of both labels shows no noise."
    return (
        f"With the labels swapped at random within the blocks, {report.false_share:.1%} of {report.studies} such "
        "studies have one; 5% is what the intervals allow."
    )


def _row(results: Results, report: AAReport, one: Comparison) -> tuple[str, ...]:
    # The log ratio of a block has the noise of two trials.
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
