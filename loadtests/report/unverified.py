"""Explain figures that contention or the generator disturbed, and find conclusions that are still valid."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.formatting import number, series
from loadtests.report.findings import by_importance, condition

BEYOND = 4.0  # another busy program on each core takes half of the CPU time, which can't explain a factor of four


def sentences(results: Results) -> Iterator[str]:
    """Yield a sentence that explains figures in brackets, and sentences about ratios that contention can't explain.

    Yield nothing if all figures are verified.
    """
    if not any(cell.unverified for cell in results.cells.values()):
        return
    yield (
        "Figures in brackets are unverified: contention or the generator disturbed all their trials, so they aren't "
        "ranked. For a result, stop other programs and measure again."
    )
    yield from _in_spite_of_it(results)


def _in_spite_of_it(results: Results) -> Iterator[str]:
    """Yield a sentence for each test with ratios whose interval is above BEYOND or below 1 / BEYOND.

    Only interleaved tests are considered, because all of their setups had the same contention.
    """
    observations = [*results.observations, *results.unverified_observations]
    for test in by_importance(results):
        metric, rows = test.judged[0], []
        if not results.study.interleaved(test):
            continue
        own = [one for one in observations if (one.test, one.metric) == (test.name, metric.name)]
        for one in results.compared([(results.baseline_of(label), label) for label in results.candidates], own):
            contended = any(results.cells[label, test.name].unverified for label in (one.candidate, one.baseline))
            if contended and one.low >= BEYOND:
                rows.append(f"{one.candidate} at least {number(one.low)} times")
            elif contended and one.high <= 1 / BEYOND:
                rows.append(f"{one.candidate} at most {one.high:.0%} of")
        if rows:
            called = results.called(test.name, metric.name)
            yield f"Nevertheless, {called} {condition(results, test)}: {series(rows)} {results.baseline_name}'s."
