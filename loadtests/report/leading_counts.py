"""Show counts that answer a test's question, such as lost requests: in sentences, in a chart, and in table columns.

Counts have no verdicts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import capital, number, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.trial_count import TrialCount
from loadtests.report import points, tables
from loadtests.report.charts import latency
from loadtests.report.charts.shared import Chart
from loadtests.report.findings import NAMED, by_importance, condition
from loadtests.report.points import ChartRow
from loadtests.report.tables import Column
from loadtests.report.view import Field, Finding, Table


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
    return tuple(f"{one.question}: {one.answer}" for one in found if first.answering and one.test == first.name)[
        : len(first.answering)
    ]


def chart(results: Results) -> Chart | None:
    """Return a chart of the most important test's first count, with the test's other counts as text.

    Returns:
        The chart, or None if the test has no such count or no setup's count is known.
    """
    test = by_importance(results)[0]
    if not test.answering or not (figures := _known(results, test, first := test.answering[0])):
        return None
    labels = ordered(results, test, first)
    rows = [_row(results, test, label, figures.get(label)) for label in labels]
    axis, title = capital(first.called), _title(first, figures)
    blocks = points.valid_blocks(results, test)
    over = f"{'sum' if first.summed else 'median'} over {span(blocks, 'block')}" if max(blocks) > 1 else "1 block"
    return Chart(
        "headline",
        f"{axis}; {test.description}, {over}.",
        f"{axis}, {test.description}: {points.in_words(rows)}.",
        partial(latency.figure, rows, axis, title, [f"{test.description}, {test.engine}; {over}"], from_zero=True),
    )


def ahead_of(results: Results, table: Table, conditions: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """Insert counts before the figures in a table of setups, and sort its rows by the first count.

    Returns:
        The table, and the test conditions of each column.
    """
    tests = [test for test in by_importance(results) if test.answering]
    counts = [(test, counted) for test in tests for counted in test.answering]
    if not counts:
        return table, tuple(conditions)
    rows = {row[0].text: row for row in table.rows}
    labels = dict.fromkeys((*ordered(results, *counts[0]), *rows))
    figures = range(1, len(table.columns))
    first_to_go = dict.fromkeys((*table.optional, *reversed(figures)))
    several = len(tests) > 1
    return dataclasses.replace(
        table,
        columns=(
            table.columns[0],
            *(f"{counted.name} {test.name}" if several else counted.name for test, counted in counts),
            *table.columns[1:],
        ),
        rows=tuple(
            (
                rows[label][0],
                *(field(results.cells[label, test.name], counted) for test, counted in counts),
                *rows[label][1:],
            )
            for label in labels
        ),
        numeric=frozenset(range(1, len(table.columns) + len(counts))),
        optional=tuple(place + len(counts) for place in first_to_go),
    ), (conditions[0], *(condition(results, test) for test, _ in counts), *conditions[1:])


def ordered(results: Results, test: Test, counted: TrialCount) -> list[str]:
    """Return the labels of the setups in a test, sorted by a count. Setups without a count are last."""
    figures = _known(results, test, counted)
    labels = results.labels_without_copy(test.name)
    return sorted(labels, key=lambda label: figures.get(label, math.inf))


def columns(counts: Iterable[TrialCount]) -> dict[str, Column]:
    """Return a table column for each count, by heading."""
    return {counted.name: partial(field, counted=counted) for counted in counts}


def field(cell: Cell, counted: TrialCount) -> Field:
    """Return a table field with a count over the valid trials of a setup in a test."""
    value = counted.over(cell.valid)
    return tables.unknown() if value is None else Field(in_words(value), tone="bad" if value and counted.bad else "")


def in_words(value: float) -> str:
    """Format a count, such as 12,345, or a median such as 2.5."""
    whole = value >= 10 or value == int(value)
    return number(value) if math.isinf(value) else f"{value:,.0f}" if whole else f"{value:.1f}"


def _known(results: Results, test: Test, counted: TrialCount) -> dict[str, float]:
    cells = [results.cells[label, test.name] for label in results.labels_without_copy(test.name)]
    return {cell.label: value for cell in cells if (value := counted.over(cell.valid)) is not None}


def _sentence(figures: dict[str, float]) -> str:
    """Return a sentence about the setups' counts, such as ``none by gunicorn; daphne 12 and hypercorn 40``."""
    some = sorted((label for label, value in figures.items() if value), key=figures.__getitem__)
    none = [label for label, value in figures.items() if not value]
    few = series(none) if len(none) <= NAMED else f"{len(none)} of {len(figures)}"
    parts = [f"none by {few if some else 'any'}"] if none else []
    if len(some) > NAMED:
        ends = [figures[some[0]], figures[some[-1]]]
        parts.append(
            " to ".join(f"{in_words(end)} ({series(_all(figures, end), NAMED)})" for end in dict.fromkeys(ends))
        )
    elif some:
        parts.append(series([f"{label} {in_words(figures[label])}" for label in some]))
    return f"{'; '.join(parts)}." if parts else ""


def _all(figures: dict[str, float], value: float) -> list[str]:
    return [label for label, one in figures.items() if one == value]


def _title(counted: TrialCount, figures: dict[str, float]) -> str:
    none = _all(figures, 0.0)
    if none:
        who = "any" if len(none) == len(figures) else f"{len(none)} of {len(figures)}"
        return f"{capital(counted.called)}: none by {who}"
    return f"{capital(counted.called)}: {in_words(min(figures.values()))} to {in_words(max(figures.values()))}"


def _row(results: Results, test: Test, label: str, value: float | None) -> ChartRow:
    """Return a setup's chart row, with the first count as a point and other counts above 0 as text."""
    row = {"percentile": "", **points.row_of(results, label)}
    cell = results.cells[label, test.name]
    if value is None:
        why = "not known" if cell.valid else "no valid trial" if cell.invalid else "not measured"
        return {**row, "note": why, "text": f"{label}: {why}"}
    others = [(one, count) for one in test.answering[1:] if (count := one.over(cell.valid))]
    note = in_words(value)
    if others:
        note += f" ({', '.join(f'{in_words(count)} {one.name}' for one, count in others)})"
    return {**row, "value": value, "note": note, "text": f"{label}: {note}"}
