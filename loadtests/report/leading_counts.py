"""Show counts that answer a test's question, such as lost requests: in sentences, in a chart, and in table columns.

Counts have no verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from loadtests.analyse.results import Results
from loadtests.formatting import capital, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.trial_count import TrialCount
from loadtests.report import points, tables
from loadtests.report.charts import rows as charts
from loadtests.report.charts.shared import Chart
from loadtests.report.findings import NAMED, by_importance, condition
from loadtests.report.points import ChartRow
from loadtests.report.view import Finding


def findings(results: Results) -> Iterator[Finding]:
    """Yield a finding for each count that answers a test's question. The most important test comes first."""
    for test in by_importance(results):
        for counted in test.answering:
            if said := _sentence(_known(results, test, counted)):
                question = f"{capital(counted.called)} {condition(results, test)}"
                yield Finding(question, said, brief=said, certain=True, test=test.name)


def lead(results: Results, found: Sequence[Finding]) -> tuple[str, ...]:
    """Return the sentences about the most important test's counts, or an empty tuple if the test has no counts."""
    first = by_importance(results)[0]
    counts = [one for one in found if one.test == first.name][: len(first.answering)]
    return tuple(f"{one.question}: {one.answer}" for one in counts)


def chart(results: Results) -> Chart | None:
    """Return a chart of the most important test's first count.

    Returns:
        The chart, or None if the test has no such count or no setup's count is known.
    """
    test = by_importance(results)[0]
    if not test.answering or not (figures := _known(results, test, first := test.answering[0])):
        return None
    labels = ordered(results, test, first)
    rows = [_row(results, test, label, figures.get(label)) for label in labels]
    axis = capital(first.called)
    title = f"{axis}: {_sentence(figures)}".removesuffix(".")
    blocks = points.valid_blocks(results, test)
    over = f"{'sum' if first.summed else 'median'} over {span(blocks, 'block')}" if max(blocks) > 1 else "1 block"
    return Chart(
        "headline",
        f"{axis}; {test.description}, {over}.",
        f"{axis}, {test.description}: {points.in_words(rows)}.",
        partial(charts.spec, rows, axis, title, [f"{test.description}, {test.engine}; {over}"], from_zero=True),
    )


def ordered(results: Results, test: Test, counted: TrialCount) -> list[str]:
    """Return the labels of the setups in a test, sorted by a count. Setups without a count are last."""
    figures = _known(results, test, counted)
    labels = results.labels_without_copy(test.name)
    return sorted(labels, key=lambda label: figures.get(label, math.inf))


def _known(results: Results, test: Test, counted: TrialCount) -> dict[str, float]:
    cells = [results.cells[label, test.name] for label in results.labels_without_copy(test.name)]
    return {cell.label: value for cell in cells if (value := counted.over(cell.valid)) is not None}


def _sentence(figures: dict[str, float]) -> str:
    """Return a sentence about the setups' counts, such as ``none by gunicorn; daphne 12 and hypercorn 40``."""
    some = sorted((label for label, value in figures.items() if value), key=figures.__getitem__)
    none = [label for label, value in figures.items() if not value]
    parts = [f"none by {series(none, NAMED)}"] if none else []
    if len(some) > NAMED:
        ends = dict.fromkeys(tables.in_words(figures[label]) for label in (some[0], some[-1]))
        parts.append(f"{' to '.join(ends)} by {len(some)} setups")
    elif some:
        parts.append(series([f"{label} {tables.in_words(figures[label])}" for label in some]))
    return f"{'; '.join(parts)}." if parts else ""


def _row(results: Results, test: Test, label: str, value: float | None) -> ChartRow:
    """Return a setup's chart row, with the count as a point."""
    row = points.row_of(results, label)
    cell = results.cells[label, test.name]
    if value is None:
        why = "not known" if cell.valid else "no valid trial" if cell.invalid else "not measured"
        return {**row, "note": why, "text": f"{label}: {why}"}
    note = tables.in_words(value)
    return {**row, "value": value, "note": note, "text": f"{label}: {note}"}
