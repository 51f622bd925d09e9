"""The answer of a run, for a reader in a hurry: what failed, who is first, and a row for each setup."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.overload import FAILED, Standing
from loadtests.analyse.reasons import Reason, Severity
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import TELLS_NOTHING, figure, number, percent, plural, plus_minus, series
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import MEMORY_PEAK, Metric
from loadtests.report import load_steps, ranking, tables
from loadtests.report.findings import NAMED, as_asked, condition
from loadtests.report.lost_sessions import unkept
from loadtests.report.sections import overview
from loadtests.report.verdict_text import TONES, what_would_settle
from loadtests.report.view import Field, Finding, RunAnswer, Table
from loadtests.report.winners import firsts

UNSURE, SAME, UNHELD = "?", "same", "cannot hold"
BASELINE = "×1"
MOST_NAMED = 12  # setups of which something failed


@dataclass(frozen=True)
class _Column:
    """A metric of a test. ``compared``: its ratio to the baseline stands beside it."""

    heading: str
    test: Test
    metric: Metric
    compared: bool


def answer(results: Results, advice: Sequence[Finding], findings: Sequence[Finding], notes: Sequence[str]) -> RunAnswer:
    """The answer, of all that was found; ``notes`` are what it stands on beside what the table needs."""
    foremost = (
        *overview.two_machines(results),
        *unkept(results),
        *_troubles(results),
        *(f"{one.asked}: {one.answer}" for one in advice),
    )
    columns = list(_columns(results))
    if not columns:
        return RunAnswer(foremost, (), None, (), (), tuple(notes))
    table = _table(results, columns)
    beside = "".join(field.detail for row in table.rows for field in row)
    marks = tuple((sign, meaning) for sign, meaning in _marks(results) if sign in beside)
    conditions = ["", *(condition(results, column.test) for column in columns)]
    conditions += ["at peak"] * (len(table.columns) - len(conditions))
    return RunAnswer(foremost, firsts(results, findings), table, tuple(conditions), marks, tuple(notes))


def _troubles(results: Results) -> Iterator[str]:
    """What was not done: a rate not held, requests that failed, no valid trial. A sentence for each test and kind."""
    for test in results.tests:
        labels = [label for label in results.labels_in(test.name) if label != results.twin]
        standings = {label: results.standings[label, test.name] for label in labels}
        unheld = {label: standing for label, standing in standings.items() if standing.overload}
        if len(unheld) > NAMED:
            told = [f"{label} (about {number(one.overload.holds)})" for label, one in unheld.items() if one.overload]
            yield f"Cannot hold what is asked {condition(results, test)}: {_named(told)}."
        elif unheld:
            yield f"{'; '.join(f'{label} {one.trouble}' for label, one in unheld.items())}."
        rest = {label: standing for label, standing in standings.items() if not standing.overload}
        losing = [f"{label} {percent(standing.lost)}" for label, standing in rest.items() if standing.loses]
        if losing:
            yield f"Deliveries were lost {condition(results, test)}, so not ranked: {_named(losing)}."
        apart = [
            f"{label} {percent(standing.unconnected)}"
            for label, standing in rest.items()
            if standing.unconnected > FAILED
        ]
        if apart:
            yield f"Connections were refused or lost {condition(results, test)}, so not ranked: {_named(apart)}."
        failed = [
            f"{label} {standing.failed:.2%}"
            for label, standing in rest.items()
            if standing.failed > standing.allowed and not standing.loses
        ]
        if failed:
            yield f"{test.load_unit.capitalize()}s failed {condition(results, test)}, so not ranked: {_named(failed)}."
        lost = [
            f"{label} ({tables.why_empty(cell)})"
            for label in labels
            if not (cell := results.cells[label, test.name]).valid and cell.invalid
        ]
        if lost:
            yield f"No valid trial {condition(results, test)}: {_named(lost)}."


def _named(told: Sequence[str]) -> str:
    """All of them, or as many as a reader in a hurry reads, and how many more there are."""
    more = len(told) - MOST_NAMED
    return series([*told[:MOST_NAMED], f"{more} more"] if more > 1 else told)


def _columns(results: Results) -> Iterator[_Column]:
    """For each test what verdicts are first given on, rates before times; of the first test of a kind also the other
    judged ones; and beside these what they are not to be shown without."""
    compares = results.record.advice is None and len(results.labels) > 1
    tests = as_asked(results)
    # Of a curve the ends; it has a chart.
    tests = [test for test in tests if not load_steps.between(results, test)]
    first_of_kind = {test.kind: test for test in reversed(tests)}
    asked = [
        (test, metric)
        for test in tests
        for metric in (test.judged if test is first_of_kind[test.kind] else test.judged[:1])
    ]
    shown = [(test, metric) for test, metric in asked if _known(results, test, metric)]
    if not any(metric is test.cost_unit.cpu for test, metric in shown):
        shown += [(test, test.cost_unit.cpu) for test in tests if _known(results, test, test.cost_unit.cpu)][:1]
    # What is asked first of each test before what is asked of it as well.
    shown.sort(key=lambda one: one[1] is not one[0].judged[0])
    beside = [(test, metric) for test in dict.fromkeys(test for test, _ in shown) for metric in test.supporting_metrics]
    shown += [(test, metric) for test, metric in beside if _known(results, test, metric)]
    for test, metric in shown:
        same = [other for other, known in shown if known is metric]
        several = len(same) > 1
        heading = metric.short or metric.label
        judged = metric in test.judged
        # Tests of one kind differ by the rest of their names; of several kinds, by the whole of it.
        of_kinds = len({other.kind for other in same}) > 1
        which = test.name if of_kinds else test.name.removeprefix(test.kind).lstrip("-")
        named = f"{heading} {which}" if several and which else heading
        yield _Column(metric.with_unit(named), test, metric, compares and judged)


def _known(results: Results, test: Test, metric: Metric) -> bool:
    return any(results.estimate(label, test.name, metric.name) for label in results.labels)


def _table(results: Results, columns: Sequence[_Column]) -> Table:
    labels = [label for label in _ranked(results, columns) if label != results.twin]
    memory = {label: _memory(results, label) for label in labels}
    headings = ["setup", *(column.heading for column in columns)]
    rows = [[Field(label), *(_field(results, label, column) for column in columns)] for label in labels]
    if any(memory.values()):
        headings.append("MB")
        rows = [[*row, Field(number(memory[label]))] for row, label in zip(rows, labels, strict=True)]
    main = [place for place, column in enumerate(columns, start=1) if column.metric is column.test.judged[0]]
    beside = [place for place, column in enumerate(columns, start=1) if column.metric in column.test.supporting_metrics]
    others = [place for place in range(1, len(columns) + 1) if place not in {*main, *beside}]
    # What stands beside a column goes after it, so that it is never missed.
    last = [each for place in reversed(main[1:]) for each in (place, *_of(columns, beside, columns[place - 1].test))]
    return Table(
        "answer",
        "Setup by setup",
        tuple(headings),
        tuple(map(tuple, rows)),
        numeric=frozenset(range(1, len(headings))),
        optional=(*others, *last),
    )


def _of(columns: Sequence[_Column], places: Sequence[int], test: Test) -> list[int]:
    """Which of these places are a test's."""
    return [place for place in places if columns[place - 1].test is test]


def _ranked(results: Results, columns: Sequence[_Column]) -> list[str]:
    """All labels, by the first column; those that the study leaves out of its test are last."""
    first = columns[0]
    ordered = ranking.by_estimate(results, first.test, first.metric)
    return [*ordered, *(label for label in results.labels if label not in ordered)]


def _field(results: Results, label: str, column: _Column) -> Field:
    """A figure, and beside it what is certain of its ratio to the baseline."""
    test, metric = column.test, column.metric
    cell, standing = results.cells[label, test.name], results.standings[label, test.name]
    if not cell.valid:
        return Field("invalid" if cell.invalid else tables.unknown().text, tone="muted")
    estimate = results.estimate(label, test.name, metric.name)
    known = estimate is not None and math.isfinite(estimate.value)
    text = figure(estimate) if estimate and known else tables.unknown().text
    if metric in test.supporting_metrics:
        return Field(text, tone="bad" if standing.loses else "")
    if standing.overload:
        # How long the answers took says nothing: as long as the test was.
        return Field(text if metric is test.cost_unit.cpu else tables.unknown().text, UNHELD, tone="bad")
    if standing.fails:
        return Field(text, _failure(standing), tone="bad")
    if not column.compared:
        return Field(text)
    if label == results.baseline:
        return Field(text, BASELINE)
    if results.standings[results.baseline, test.name].trouble:
        return Field(text)  # a ratio to what failed, or to a rate that is not held, says nothing
    comparison = results.comparisons.get((label, test.name, metric.name))
    return Field(text, _against(comparison), tone=_tone(comparison)) if comparison else Field(text)


def _failure(standing: Standing) -> str:
    """What failed most, in two words."""
    if standing.loses:
        return f"loses {percent(standing.lost)}"
    if standing.failed > standing.allowed:
        return f"{standing.failed:.1%} failed"
    return f"{percent(standing.unconnected)} unconnected"


def _against(comparison: Comparison) -> str:
    """What is certain of a ratio."""
    if comparison.verdict is Verdict.EQUIVALENT:
        return SAME
    return UNSURE if _open(comparison) else _range(comparison.low, comparison.high)


def _tone(comparison: Comparison) -> str:
    return "" if _open(comparison) else TONES.get(comparison.verdict, "")


def _open(comparison: Comparison) -> bool:
    """Whether it is not known that the two differ, nor that they are alike."""
    noisy = comparison.inside_noise and comparison.verdict is not Verdict.EQUIVALENT
    return noisy or comparison.verdict is Verdict.INCONCLUSIVE


def _range(low: float, high: float) -> str:
    """``×1.41–2.6``, or one end where there is no other."""
    if low <= 0:
        return f"under ×{_end(high)}"
    if not math.isfinite(high):
        return f"over ×{_end(low)}"
    return f"×{'–'.join(dict.fromkeys((_end(low), _end(high))))}"


def _end(value: float) -> str:
    """An end of an interval, which two digits tell well enough; near 1 it is the second decimal that counts."""
    if value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _memory(results: Results, label: str) -> float | None:
    """The most that a setup's processes had resident in any test, in MB."""
    found = (results.estimate(label, test.name, MEMORY_PEAK.name) for test in results.tests)
    return max((estimate.value for estimate in found if estimate), default=None)


def _marks(results: Results) -> Iterator[tuple[str, str]]:
    """What stands beside figures, and what it means."""
    family = max((one.family for one in results.comparisons.values()), default=0)
    if results.record.advice is not None or not family or results.blocks < 2:
        return
    at_once = f"in all {plural(family, 'comparison')} at once" if family > 1 else "in the one comparison"
    yield "×", f"of {results.baseline}'s; like who is first, 95% sure, {at_once}."
    yield SAME, f"within ±{results.study.delta:.0%} of {results.baseline}'s, as sure."
    settling = what_would_settle(results.comparisons.values())
    bounded = any(one.at_least or one.at_most for one in results.comparisons.values())
    beyond = ", or beyond what could be asked of it" if bounded else ""
    unsure = f"too close to call, or inside the machine's own noise{beyond}{_resolution(results)}."
    yield UNSURE, f"{unsure} {settling}".rstrip()


def _resolution(results: Results) -> str:
    """Below which ratios the run does not tell two setups apart, half of the time, in what its tests ask first."""
    widths: dict[str, list[float]] = {}
    for test in as_asked(results):
        metric = test.judged[0]
        found = [one for one in results.comparisons.values() if (one.test, one.metric) == (test.name, metric.name)]
        for one in found:
            if one.at_least or one.at_most:
                continue  # no number of blocks closes its interval
            widths.setdefault(metric.short or metric.label, []).append(1 + plus_minus(one.low, one.high))
    typical = {name: median(found) for name, found in widths.items()}
    told = [f"×{_end(width)} in {name}" for name, width in typical.items() if width < TELLS_NOTHING]
    return f": under about {series(told)}" if told else ""


def flagged(results: Results) -> str:
    """How many trials there are, and what was wrong with those that are invalid or doubtful."""
    told = [f"{plural(len(results.trials), 'trial')} in {plural(results.blocks, 'block')}"]
    for severity in Severity:
        by_trial = [[flag.reason for flag in trial.flags if flag.severity == severity] for trial in results.trials]
        reasons = dict.fromkeys(reason for own in by_trial for reason in own)
        if reasons:
            told.append(f"{sum(map(bool, by_trial))} {severity.value} ({'; '.join(map(_meaning, reasons))})")
    return f"{', '.join(told)}{', none invalid or doubtful' if len(told) == 1 else ''}."


def _meaning(reason: str) -> str:
    """What a flag means, in short; of one that this version does not know its name."""
    meaning = Reason[reason].meaning if reason in Reason.__members__ else reason.replace("_", " ")
    return re.split(r"[,;] | \(", meaning)[0]
