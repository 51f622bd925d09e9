"""The verdicts: tables, charts, and how to read them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from functools import partial

from loadtests.analyse import readings
from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.overload import FAILED, LOST
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import (
    DASH,
    NOT_REACHED,
    bounded_ratio,
    closed,
    number,
    plural,
    ratio,
    ratio_interval,
    series,
    span,
)
from loadtests.plan.cost_unit import DELIVERIES, MESSAGES
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report import ranking
from loadtests.report.charts import verdicts
from loadtests.report.charts.base import Chart
from loadtests.report.charts.palette import looks
from loadtests.report.points import BEYOND, INTERVALS, ChartRow
from loadtests.report.verdict_text import TONES, remark, short_remark, short_word, word
from loadtests.report.view import Field, Section, Table

NOT_COMPARED = "no block has both"


def section(results: Results) -> Section | None:
    """A table and a chart for each test; None where there is nothing to compare."""
    if len(results.labels) < 2:
        return None
    every = [_table(results, test) for test in results.tests]
    # Where a setup was measured against itself alone, the noise is all there is to say.
    said = [table.note for table in every if not table.rows and table.note]
    return Section(
        "verdicts",
        "Verdicts",
        tuple(said) if len(said) == len(every) else (_how_to_read(results), *said),
        tuple(table for table in every if table.rows),
        tuple(chart for test in results.tests for chart in _charts(results, test)),
    )


def _how_to_read(results: Results) -> str:
    family = max((one.family for one in results.comparisons.values()), default=0)
    text = (
        f"Each setup against {results.baseline}: the ratio within each block, their mean, and an interval over blocks. "
        "A verdict is given only where the interval allows it: faster or slower where it leaves out 1, equivalent "
        f"where it lies within ±{results.study.delta:.0%}, otherwise inconclusive. Above all ratios stands "
        "that a setup cannot hold the rate it was asked for. Requests that failed count as infinitely slow, and who "
        f"fails more than {FAILED:.1%} of them is neither faster nor equivalent. Rows are in the order of the ratio, "
        "which alone says nothing: neighbours may be the same. An interval that is open holds 1 and goes a hundredfold "
        "or further: nothing can be said of that ratio."
    )
    if any(test.cost_unit in (MESSAGES, DELIVERIES) for test in results.tests):
        text += (
            " Deliveries that are missing count as infinitely late, and above all ratios stands that a setup loses "
            f"more than {LOST:.2%} of them."
        )
    if any(one.at_least or one.at_most for one in results.comparisons.values()):
        text += (
            " Where something else than the setup was the limit, such as the generator, its figure is a lower bound "
            "(at least) and the interval of its ratio has one end."
        )
    if family:
        text += f" The intervals hold together with 95% for all {plural(family, 'comparison')} of the run."
    return text


def _table(results: Results, test: Test) -> Table:
    """A row for each metric and setup, the best first."""
    rows = []
    known = _known(results, test)
    for metric in known:
        for label in ranking.by_ratio(results, test, metric):
            named = Field(results.called(test.name, metric.name), short=metric.short)
            compared = fields(results.comparisons.get((label, test.name, metric.name)))
            rows.append((Field(label), named, *_with_figures(results, test, label, metric, compared)))
    return Table(
        f"verdicts-{test.name}",
        f"{test.name}: against {results.baseline}",
        ("setup", "metric", "ratio", "verdict", "remark", "blocks"),
        tuple(rows),
        note=f"{_noise(results, test)}{_unknown(results, test, [one for one in test.judged if one not in known])}",
        numeric=frozenset({2, 5}),
        optional=(5, 4),
        grouped=1,
    )


def _with_figures(
    results: Results, test: Test, label: str, metric: Metric, compared: tuple[Field, ...]
) -> tuple[Field, ...]:
    """Ratio, verdict, remark and blocks; before the remark the two figures, of a metric that is to be told so."""
    if not metric.shows_figures:
        return compared
    figures = [
        f"{number(found.value)} {metric.unit}{of}" if math.isfinite(found.value) else f"{NOT_REACHED}{of}"
        for whose, of in ((label, ""), (results.baseline, f" of {results.baseline}"))
        if (found := results.estimate(whose, test.name, metric.name))
    ]
    ratio_field, verdict, said, blocks = compared
    told = "; ".join(filter(None, [", ".join(figures), said.text]))
    return ratio_field, verdict, dataclasses.replace(said, text=told, short=told), blocks


def _known(results: Results, test: Test) -> list[Metric]:
    """The metrics that are compared; all where none is. One that no trial knows is said once, not for each setup."""
    compared = {metric for _, asked, metric in results.comparisons if asked == test.name}
    return [metric for metric in test.judged if metric.name in compared] or list(test.judged)


def fields(comparison: Comparison | None) -> tuple[Field, ...]:
    """Ratio, verdict, remark and blocks."""
    if comparison is None:
        return Field(DASH, tone="muted"), Field(NOT_COMPARED, tone="muted"), Field(""), Field("0")
    muted = comparison.inside_noise or comparison.verdict in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    tone = "muted" if muted else TONES[comparison.verdict]
    told = bounded_ratio(comparison)
    within = NOT_REACHED if ratio(comparison.ratio) == DASH else ratio_interval(comparison) or "open interval"
    short = f"{told} ({within.replace('×', '')})"
    return (
        Field(told, within, short, tone="muted" if muted else ""),
        Field(word(comparison), short=short_word(comparison), tone=tone),
        Field(remark(comparison), short=short_remark(comparison), tone="muted"),
        Field(str(comparison.blocks)),
    )


def _unknown(results: Results, test: Test, metrics: Sequence[Metric]) -> str:
    """The caption's part on metrics in which nothing could be compared."""
    trials = [trial for label in results.labels for trial in results.cells[label, test.name].valid]
    short = [metric for metric in metrics if readings.too_few(trials, metric)]
    told = ""
    for why, which in (
        ("Not known, for the trials are too short", short),
        (
            f"Not compared, for no block has it of {results.baseline} and of another",
            [m for m in metrics if m not in short],
        ),
    ):
        if which:
            told += f" {why}: {series([results.called(test.name, metric.name) for metric in which])}."
    return told


def _noise(results: Results, test: Test) -> str:
    """The caption's part on the noise floor."""
    floors = [
        f"{results.called(test.name, metric.name)} {ratio_interval(floor) or ratio(floor.ratio)}"
        for metric in test.judged
        if (floor := results.floors.get((test.name, metric.name)))
    ]
    if not floors:
        if results.twin is not None:
            return f"The noise floor is not known: no block has a figure of both {results.baseline} and {results.twin}."
        if not results.cells[results.baseline, test.name].valid:
            return f"The noise floor is not known: no trial of {results.baseline} is valid."
        return "The noise floor is not known: the baseline ran under one label only."
    return (
        f"Noise floor: {results.baseline} against itself as {results.twin} gave {series(floors)}. "
        "Differences inside it are grey."
    )


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    """Ratios to the baseline; none where nothing can be compared."""
    known = _known(results, test)
    rows = [
        _ratio(results, label, test, metric) for metric in known for label in ranking.by_ratio(results, test, metric)
    ]
    if not any("ratio" in row for row in rows):
        return
    said = "; ".join(f"{row['metric']}, {row['label']}: {row['note']}" for row in rows)
    yield Chart(
        f"verdicts-{test.name}",
        f"Ratio to {results.baseline}, with the band that counts as equal and the machine's noise floor. {INTERVALS}",
        f"Ratio to {results.baseline}, {test.description}. {said}.",
        partial(
            verdicts.spec,
            rows,
            [band for metric in known for band in _bands(results, test, metric)],
            looks(results.labels),
            f"Against {results.baseline}",
            [
                f"{test.description}, {test.engine}; ratio within each block, "
                f"mean of {span(_blocks(results, test), 'block')}"
            ],
        ),
    )


def _blocks(results: Results, test: Test) -> list[int]:
    return [one.blocks for one in results.comparisons.values() if one.test == test.name]


def _bands(results: Results, test: Test, metric: Metric) -> Iterator[ChartRow]:
    name, delta = results.called(test.name, metric.name), results.study.delta
    yield {"metric": name, "kind": f"equivalent (±{delta:.0%})", "low": 1 - delta, "high": 1 + delta}
    floor = results.floors.get((test.name, metric.name))
    if floor is not None and closed(floor):
        far = max(floor.high, 1 / floor.low)
        yield {"metric": name, "kind": "noise floor", "low": 1 / far, "high": far}


def _ratio(results: Results, label: str, test: Test, metric: Metric) -> ChartRow:
    name = results.called(test.name, metric.name)
    comparison = results.comparisons.get((label, test.name, metric.name))
    if comparison is None:
        return {"label": label, "metric": name, "note": NOT_COMPARED, "text": f"{label}: {name}: {NOT_COMPARED}"}
    note = f"{bounded_ratio(comparison)} {word(comparison)}".removeprefix(f"{DASH} ")
    overload = comparison.of_candidate.overload
    row: ChartRow = {
        "label": label,
        "metric": name,
        "note": f"cannot hold {overload.rate:,.4g}/s" if overload else note,
        "text": f"{label}: {name} {note} {ratio_interval(comparison)}".rstrip(),
    }
    if ratio(comparison.ratio) == DASH:
        return row
    return {
        **row,
        "ratio": comparison.ratio,
        "low": comparison.low,
        # Open at both ends: drawn as an interval that leaves the chart on both sides.
        "high": min(comparison.high, BEYOND),
    }
