"""Show verdicts in tables and charts, and explain how to read them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.results import Results
from loadtests.analyse.saturation import FULL
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import (
    DASH,
    NOT_REACHED,
    bounded_ratio,
    closed,
    plural,
    ratio,
    ratio_interval,
    series,
    span,
)
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report import findings
from loadtests.report.charts import rows as charts
from loadtests.report.charts.shared import Chart
from loadtests.report.points import BEYOND, ChartRow, kind, whisker_note
from loadtests.report.verdict_text import TONES, effect, remark, word
from loadtests.report.view import Field, Section, Table
from loadtests.trials.overload import FAILED, LOST

NOISE_FLOOR = "noise floor"
NOT_COMPARED = "no block has both"


def section(results: Results) -> Section | None:
    """Return a table and a chart for each test, or None if nothing is compared."""
    if len(results.labels) < 2:
        return None
    every = [_table(results, test) for test in results.tests]
    # If a study compares a setup only with its own copy, the section contains only the noise floor.
    notes = [table.note for table in every if not table.rows and table.note]
    return Section(
        "verdicts",
        "Verdicts",
        tuple(notes),
        tuple(table for table in every if table.rows),
        tuple(chart for test in results.tests for chart in _charts(results, test)),
        reading="" if len(notes) == len(every) else _how_to_read(results),
    )


def _how_to_read(results: Results) -> str:
    family = results.family
    text = (
        f"Each setup is compared with {results.baseline_name}: the mean ratio within blocks, and its interval over "
        "blocks. A setup is faster or slower if the interval excludes 1, equivalent if the interval is within "
        f"±{results.study.delta:.0%}, and otherwise inconclusive. If a setup can't sustain the requested rate, this is "
        "its verdict for any ratio. Failed requests count as infinitely slow, and missing deliveries as infinitely "
        f"late. A setup that fails more than {FAILED:.1%} of its requests is neither faster nor equivalent, and a "
        f"setup that loses more than {LOST:.2%} of its deliveries has the verdict 'loses'. A figure is a lower bound "
        "(at least) if something other than the setup was saturated, such as the load generator, or if the servers' "
        f"cores were less than {FULL:.0%} busy in a closed loop. A throughput that is a lower bound never wins or "
        "loses a comparison."
    )
    if family:
        text += f" Intervals are adjusted for {plural(family, 'comparison')}: all hold together with 95% confidence."
    return text


def _table(results: Results, test: Test) -> Table:
    """Return a table with a row for each metric and setup. The best setup comes first."""
    rows = []
    known = _known(results, test)
    for metric in known:
        for label in results.by_ratio(test, metric):
            named = Field(results.called(test.name, metric.name), short=metric.short)
            compared = fields(results.comparisons.get((label, test.name, metric.name)), results.latency(test.name))
            own = results.own_baselines.get(label, "")
            against = f"against {own}" if own else ""
            rows.append((Field(label, against), named, *compared))
    unknown = [results.called(test.name, metric.name) for metric in test.judged if metric not in known]
    missing = f" Not compared, because no block has enough figures: {series(unknown)}." if unknown else ""
    return Table(
        f"verdicts-{test.name}",
        f"{test.name}: against {results.baseline_name}",
        ("setup", "metric", "ratio", "verdict", "remark", "blocks"),
        tuple(rows),
        note=f"{_noise(results, test)}{missing}",
        numeric=frozenset({2, 5}),
        optional=(5, 4),
        grouped=1,
    )


def _known(results: Results, test: Test) -> list[Metric]:
    """Return the compared metrics, or all metrics if no metric is compared."""
    compared = {metric for _, name, metric in results.comparisons if name == test.name}
    return [metric for metric in test.judged if metric.name in compared] or list(test.judged)


def fields(comparison: Comparison | None, time: str = "response time") -> tuple[Field, ...]:
    """Return the fields of a comparison: ratio, verdict, remark and blocks.

    ``time`` is the name of the measured time, such as response time.
    """
    if comparison is None:
        return Field(DASH, tone="muted"), Field(NOT_COMPARED, tone="muted"), Field(""), Field("0")
    muted = comparison.inside_noise or comparison.verdict in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    tone = "muted" if muted else TONES[comparison.verdict]
    text = bounded_ratio(comparison)
    within = NOT_REACHED if ratio(comparison.ratio) == DASH else ratio_interval(comparison) or "open interval"
    short = f"{text} ({within.replace('×', '')})"
    return (
        Field(text, within, short, tone="muted" if muted else ""),
        Field(effect(comparison, time), short=word(comparison, short=True), tone=tone),
        Field(remark(comparison), short=remark(comparison, short=True), tone="muted"),
        Field(str(comparison.blocks)),
    )


def _noise(results: Results, test: Test) -> str:
    floors = [
        f"{results.called(test.name, metric.name)} {ratio_interval(floor) or ratio(floor.ratio)}"
        for metric in test.judged
        if (floor := results.floors.get((test.name, metric.name)))
    ]
    if not floors:
        return f"The noise floor is unknown, because no block has figures of both {results.baseline} and a copy of it."
    return (
        f"Noise floor: {results.baseline} against itself as {results.aa_copy} gave {series(floors)}. "
        "Differences within the noise floor are grey."
    )


def _charts(results: Results, test: Test) -> Iterator[Chart]:
    """Yield a chart of ratios to the baseline, if anything can be compared."""
    known = _known(results, test)
    rows = [_ratio(results, label, test, metric) for metric in known for label in results.by_ratio(test, metric)]
    if not any("value" in row for row in rows):
        return
    bands = [band for metric in known for band in _bands(results, test, metric)]
    floor = " and the machine's noise floor" if any(band["kind"] == NOISE_FLOOR for band in bands) else ""
    text = "; ".join(f"{row['panel']}, {row['label']}: {row['note']}" for row in rows)
    blocks = [one.blocks for one in results.comparisons.values() if one.test == test.name]
    yield Chart(
        f"verdicts-{test.name}",
        f"Ratio to {results.baseline_name} {findings.condition(results, test)}, with the equivalence band{floor}."
        f"{whisker_note(rows, together=True)}",
        f"Ratio to {results.baseline_name}, {test.description}. {text}.",
        partial(
            charts.ratios,
            rows,
            bands,
            findings.title(results, test, known[0]),
            [f"{test.description}, {test.engine}; ratio within each block, mean of {span(blocks, 'block')}"],
        ),
    )


def _bands(results: Results, test: Test, metric: Metric) -> Iterator[ChartRow]:
    name, delta = results.called(test.name, metric.name), results.study.delta
    yield {"panel": name, "kind": f"equivalent (±{delta:.0%})", "low": 1 - delta, "high": 1 + delta}
    floor = results.floors.get((test.name, metric.name))
    if floor is not None and closed(floor):
        far = max(floor.high, 1 / floor.low)
        yield {"panel": name, "kind": NOISE_FLOOR, "low": 1 / far, "high": far}


def _ratio(results: Results, label: str, test: Test, metric: Metric) -> ChartRow:
    name = results.called(test.name, metric.name)
    comparison = results.comparisons.get((label, test.name, metric.name))
    if comparison is None:
        text = f"{label}: {name}: {NOT_COMPARED}"
        return {"label": label, "kind": kind(results, label), "panel": name, "note": NOT_COMPARED, "text": text}
    note = effect(comparison, results.latency(test.name))
    if note == word(comparison):
        note = f"{bounded_ratio(comparison)} {note}".removeprefix(f"{DASH} ")
    overload = comparison.candidate_standing.overload
    row: ChartRow = {
        "label": label,
        "kind": kind(results, label),
        "panel": name,
        "note": f"cannot sustain {overload.rate:,.4g}/s" if overload else note,
        "text": f"{label}: {name} {note} {ratio_interval(comparison)}".rstrip(),
    }
    if ratio(comparison.ratio) == DASH:
        return row
    known = {"low": comparison.low, "high": min(comparison.high, BEYOND)}
    return {**row, "value": comparison.ratio, **(known if comparison.blocks > 1 else {})}
