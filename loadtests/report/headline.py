"""Create the top of a page: the answer in one or two sentences, one chart, and a table of at most five columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

from loadtests.analyse.results import Results
from loadtests.formatting import capital
from loadtests.report import findings, leading_counts, points
from loadtests.report.charts import rows as charts
from loadtests.report.charts.shared import Chart
from loadtests.report.view import Finding, Headline, RunAnswer, Table

COLUMNS = 5


def headline(results: Results, answer: RunAnswer, advice: Sequence[Finding], found: Sequence[Finding]) -> Headline:
    """Return the top of a page. It starts with the advice, or with the answer to the first question."""
    first = tuple(f"{one.question}: {one.brief}" for one in found[:1])
    lead = tuple(f"{one.question}: {one.answer}" for one in advice) or leading_counts.lead(results, found)
    lead = lead or first or answer.headlines[:1]
    rest = tuple(one for one in answer.winners if one not in lead)
    failed = tuple(one for one in answer.headlines if one not in lead)
    if answer.table is None:
        return Headline(lead, failed, rest, None, None, answer.all_notes)
    count = len(answer.table.columns)
    dropped = answer.table.optional[: max(0, count - COLUMNS)]
    places = [place for place in range(count) if place not in dropped]
    table = _part(answer.table, places) if dropped else answer.table
    notes = (answer.legend([place for place in places if place]), *(text for _, text in answer.marks), *answer.notes)
    return Headline(lead, failed, rest, leading_counts.chart(results) or _chart(results), table, notes)


def _part(table: Table, places: list[int]) -> Table:
    return dataclasses.replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
        numeric=frozenset(range(1, len(places))),
        optional=(),
    )


def _chart(results: Results) -> Chart | None:
    """Return a chart of the most important test's first judged metric, or None if no setup has a figure."""
    test = findings.by_importance(results)[0]
    metric = test.judged[0]
    time = results.latency(test.name)
    name = metric.in_words(time)
    shown = [label for label in results.by_estimate(test, metric) if label != results.aa_copy]
    rows = [points.point(results, label, test, metric, name, metric.unit) for label in shown]
    if not any("value" in row for row in rows):
        return None
    axis = metric.with_unit(name)
    return Chart(
        "headline",
        f"{capital(axis)}; {points.subtitle(results, test)[0]}.{points.whisker_note(rows)}",
        f"{axis}, {test.description}: {points.in_words(rows)}.",
        partial(charts.spec, rows, axis, findings.title(results, test, metric), points.subtitle(results, test)),
    )
