"""The same setup against itself: ``python -m loadtests aa SETUP``. All that it finds is noise."""

from __future__ import annotations

import dataclasses
from math import sqrt

from rich.console import Console
from rich.table import Table

from loadtests import setups, store
from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.noise import AAReport, aa_report
from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.study import Entry, Study
from loadtests.report.sections import verdicts
from loadtests.report.words import ratio, ratio_interval

TESTS_OF = "first-look"


def study_of(name: str, blocks: int, duration: str | None = None) -> Study:
    """The tests of first-look, on one setup under two labels. ``duration`` is how long each is measured ("20s"), as
    long as in first-look where there is none. Raises UserError for an unknown setup and for what is no duration.
    """
    [setup] = setups.find([name])
    study = studies.load(TESTS_OF)
    tests = study.tests
    if duration is not None:
        tests = tuple(dataclasses.replace(test, duration_s=studies.duration(duration)) for test in tests)
    return dataclasses.replace(
        study,
        tests=tests,
        name=f"aa-{setup.name}",
        title=f"{setup.label} against itself",
        question="What does this machine report where there is no difference?",
        baseline=setup.name,
        entries=(Entry(setup.name, setup.name, {}),),
        blocks=blocks,
    ).with_twin()


def print_aa(run: store.Run, console: Console) -> bool:
    """Prints the verdicts and the noise of a single trial; returns whether no difference was found, as should be.

    Raises UserError where a label has no valid trial.
    """
    results = Results(run)
    try:
        report = aa_report(results.judged, results.study["delta"])
    except ValueError as error:
        raise UserError(f"{run.path}: {error}") from None
    table = Table(title=results.study["title"], title_justify="left", box=None, pad_edge=False)
    for heading in ("test", "metric", "ratio", "95% interval", "verdict", "noise of a trial", "blocks"):
        table.add_column(heading, justify="left" if heading in ("test", "metric", "verdict") else "right")
    for one in report.comparisons:
        table.add_row(*_row(results, report, one))
    console.print(table)
    wrong = len(report.false_verdicts)
    console.print(
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
        verdicts.name(results, one.test, one.metric),
        ratio(one.ratio),
        ratio_interval(one) or "open",
        one.verdict.value,
        f"{noise:.1%}",
        str(one.blocks),
    )
