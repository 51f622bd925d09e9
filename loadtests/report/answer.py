"""Create the short answer at the top of a report: failures, winners, and a table with a row for each setup."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.overload import FAILED, Standing
from loadtests.analyse.reasons import Reason, Severity
from loadtests.analyse.refused import cause, no_journey, refusal
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import UNINFORMATIVE, figure, number, percent, plural, plus_minus, series
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import MEMORY_PEAK, Metric
from loadtests.report import cpu_load, leading_counts, setup_names, tables, unverified, winners
from loadtests.report.findings import NAMED, by_importance, condition
from loadtests.report.sections import load_curve, overview
from loadtests.report.verdict_text import TONES, noisy, what_would_settle
from loadtests.report.view import Field, Finding, RunAnswer, Table

UNSURE, SAME, UNSUSTAINED, NOT_FULL = "?", "same", "cannot sustain", "*"
BASELINE = "×1"
MAX_NAMED = 12  # maximum number of failed setups in a list
SESSION_ERRORS = {"mixed-up": "mixed up", "lost-session": "lost"}


@dataclasses.dataclass(frozen=True)
class _Column:
    """A column of the answer's table: one metric of one test. With ``compared``, the column also shows ratios."""

    heading: str
    test: Test
    metric: Metric
    compared: bool


def answer(results: Results, advice: Sequence[Finding], findings: Sequence[Finding], notes: Sequence[str]) -> RunAnswer:
    """Create the short answer of a run from its results, advice and findings. ``notes`` appear below the table."""
    headlines = (
        *overview.two_machines(results),
        *_session_errors(results),
        *_refusals(results),
        *_failures(results),
        *(f"{one.question}: {one.answer}" for one in advice),
    )
    columns = list(_columns(results))
    if not columns:
        return RunAnswer(headlines, (), None, (), (), tuple(notes))
    table = _table(results, columns)
    details = "".join(field.detail for row in table.rows for field in row[1:])
    marks = tuple((sign, meaning) for sign, meaning in _marks(results) if sign in details)
    conditions = ["", *(_condition(results, column) for column in columns)]
    conditions += ["at peak"] * (len(table.columns) - len(conditions))
    table, under = leading_counts.ahead_of(results, table, conditions)
    sentences, doubts = winners.sentences(results, findings), tuple(unverified.sentences(results))
    return RunAnswer(headlines, sentences, table, under, marks, tuple(notes), doubts)


def _session_errors(results: Results) -> Iterator[str]:
    """Yield a sentence for each test in which users lost their session or received another user's session.

    The counts also include invalid trials.
    """
    for test in results.tests:
        found = []
        for label in results.labels_without_copy(test.name):
            cell = results.cells[label, test.name]
            errors = [trial.result.errors for trial in (*cell.valid, *cell.invalid) if trial.result]
            counts = {text: sum(one.get(kind, 0) for one in errors) for kind, text in SESSION_ERRORS.items()}
            if any(counts.values()):
                found.append(f"{label} {' and '.join(f'{count:,} {text}' for text, count in counts.items() if count)}")
        if found:
            yield f"Sessions were not kept {condition(results, test)}: {series(found)}."


def _refusals(results: Results) -> Iterator[str]:
    """Yield a sentence for each test with refused requests or without a completed journey, also in invalid trials."""
    for test in results.tests:
        found: dict[str, str] = {}
        for label in results.labels_without_copy(test.name):
            cell = results.cells[label, test.name]
            trials = [trial.result for trial in (*cell.valid, *cell.invalid) if trial.result]
            refusals = (refusal(one, test.work.sign_in) for one in trials)
            if why := next(filter(None, refusals), "") or no_journey(trials):
                found[label] = why
        if found:
            first, *others = found
            also = f" (also {series(others, MAX_NAMED)})" if others else ""
            yield f"{first} {condition(results, test)}{also}: {found[first]}."


def _failures(results: Results) -> Iterator[str]:
    """Yield a sentence for each test and each kind of failure, such as lost deliveries."""
    for test in results.tests:
        labels = results.labels_without_copy(test.name)
        standings = {label: results.standings[label, test.name] for label in labels}
        where = condition(results, test)
        overloaded = {label: one.overload for label, one in standings.items() if one.overload}
        if len(overloaded) > NAMED:
            rates = [f"{label} (about {number(one.sustains)})" for label, one in overloaded.items()]
            yield f"Cannot sustain the load {where}: {series(rates, MAX_NAMED)}."
        elif overloaded:
            yield f"{'; '.join(f'{label} {standings[label].trouble}' for label in overloaded)}."
        rest = {label: one for label, one in standings.items() if not one.overload}
        failed = {label: one.failed for label, one in rest.items() if one.failed > one.allowed and not one.loses}
        kinds = {
            "Deliveries were lost": [f"{label} {percent(one.lost)}" for label, one in rest.items() if one.loses],
            "Connections were refused or lost": [
                f"{label} {percent(one.unconnected)}" for label, one in rest.items() if one.unconnected > FAILED
            ],
            f"{test.kind.load_unit.capitalize()}s failed{_causes(results, test, failed)}": [
                f"{label} {share:.2%}" for label, share in failed.items()
            ],
        }
        yield from (
            f"{what} {where}, so not ranked: {series(found, MAX_NAMED)}." for what, found in kinds.items() if found
        )
        cells = [results.cells[label, test.name] for label in labels]
        invalid = defaultdict(list)
        for cell in cells:
            if cell.invalid and not cell.valid:
                invalid[tables.why_empty(cell)].append(cell.label)
        if invalid:
            listed = (f"{series(named, MAX_NAMED)} ({why})" for why, named in invalid.items())
            yield f"No valid trial {where}: {'; '.join(listed)}."


def _causes(results: Results, test: Test, labels: Iterable[str]) -> str:
    """Return the distinct causes of the setups' failed requests in parentheses, or an empty string."""
    trials = (one.result for label in labels for one in results.cells[label, test.name].valid)
    causes = dict.fromkeys(cause(one) for one in trials if one and one.failed)
    return f" ({series(list(causes), MAX_NAMED)})" if causes else ""


def _columns(results: Results) -> Iterator[_Column]:
    """Yield the columns of the answer's table.

    The table starts with the first judged metric of each test, with rates before times. Then it shows the other judged
    metrics of the first test of each kind, and the supporting metrics.

    CPU time at a fixed rate is left out if a test with a closed loop also measured CPU time.
    """
    compares = results.record.advice is None and len(results.labels) > 1
    # A chart shows the whole load curve, so the table contains only the first and the last test of the curve.
    tests = [test for test in by_importance(results) if not load_curve.is_inner(results, test)]
    first_of_kind = {test.kind: test for test in reversed(tests)}
    judged = [
        (test, metric)
        for test in tests
        for metric in (test.judged if test is first_of_kind[test.kind] else test.judged[:1])
    ]
    shown = [(test, metric) for test, metric in judged if _known(results, test, metric)]
    if not any(_is_cpu(*one) for one in shown):
        shown += [(test, test.kind.cost_unit.cpu) for test in tests if _known(results, test, test.kind.cost_unit.cpu)][
            :1
        ]
    in_loops = {metric for test, metric in shown if _is_cpu(test, metric) and test.pace.is_closed_loop}
    shown = [(test, metric) for test, metric in shown if metric not in in_loops or test.pace.is_closed_loop]
    # If the table is too wide, optional columns are dropped from left to right.
    shown.sort(key=lambda one: (one[1] is not one[0].judged[0], _is_cpu(*one)))
    tests = list(dict.fromkeys(test for test, _ in shown))
    supporting = [(test, metric) for test in tests for metric in test.kind.supporting_metrics]
    shown += [(test, metric) for test, metric in supporting if _known(results, test, metric)]
    for test, metric in shown:
        same = [other for other, known in shown if known is metric]
        name = metric.short or metric.label
        if _is_cpu(test, metric):
            name = f"{name} {cpu_load.at_load(results, test)}".rstrip()
        if len(same) > 1:
            # The names of a kind's tests usually start with the kind, so the rest of the name distinguishes them.
            of_kinds = len({other.kind for other in same}) > 1
            name = f"{name} {test.name if of_kinds else test.name.removeprefix(test.kind.name).lstrip('-')}".rstrip()
        yield _Column(metric.with_unit(name), test, metric, compares and metric in test.judged)


def _is_cpu(test: Test, metric: Metric) -> bool:
    return metric is test.kind.cost_unit.cpu


def _condition(results: Results, column: _Column) -> str:
    """Return the test conditions of a column for the legend, or "" if the column's heading contains them."""
    is_named = _is_cpu(column.test, column.metric) and column.test.pace.rate_found
    return "" if is_named else condition(results, column.test)


def _known(results: Results, test: Test, metric: Metric) -> bool:
    names = [(label, test.name, metric.name) for label in results.labels]
    return any(results.estimate(*one) or results.unverified(*one) for one in names)


def _table(results: Results, columns: Sequence[_Column]) -> Table:
    ordered = results.by_estimate(columns[0].test, columns[0].metric)
    labels = [label for label in dict.fromkeys([*ordered, *results.labels]) if label != results.aa_copy]
    memory = {label: _memory(results, label) for label in labels}
    headings = ["setup", *(column.heading for column in columns)]
    rows = [
        [Field(label, setup_names.shown_with(results, label)), *(_field(results, label, column) for column in columns)]
        for label in labels
    ]
    if any(memory.values()):
        headings.append("MB")
        rows = [[*row, Field(number(memory[label]))] for row, label in zip(rows, labels, strict=True)]
    places = dict(enumerate(columns, start=1))
    main = [place for place, one in places.items() if one.metric is one.test.judged[0]]
    full = [
        place for place, one in places.items() if _is_cpu(one.test, one.metric) and cpu_load.is_full(results, one.test)
    ]
    supporting = [place for place, one in places.items() if one.metric in one.test.kind.supporting_metrics]
    others = [place for place in places if place not in {*main, *supporting, *full}]
    # A main column could mislead without its supporting column, so drop the main column first.
    last = [
        one
        for place in reversed(main[1:])
        for one in (place, *(other for other in supporting if places[other].test is places[place].test))
    ]
    return Table(
        "answer",
        "Setup by setup",
        tuple(headings),
        tuple(map(tuple, rows)),
        numeric=frozenset(range(1, len(headings))),
        optional=(*others, *last),
    )


def _field(results: Results, label: str, column: _Column) -> Field:
    """Return a setup's figure and its ratio to the baseline. Mark a CPU time if the servers' cores were partly idle."""
    found = _compared(results, label, column)
    is_idle = _is_cpu(column.test, column.metric) and results.is_lower_bound(label, column.test.name)
    return dataclasses.replace(found, detail=f"{found.detail} {NOT_FULL}".lstrip()) if is_idle else found


def _compared(results: Results, label: str, column: _Column) -> Field:
    test, metric = column.test, column.metric
    cell, standing = results.cells[label, test.name], results.standings[label, test.name]
    if not cell.valid:
        if found := results.unverified(label, test.name, metric.name):
            return tables.unverified(found)
        return Field("invalid" if cell.invalid else tables.unknown().text, tone="muted")
    estimate = results.estimate(label, test.name, metric.name)
    known = estimate is not None and math.isfinite(estimate.value)
    text = figure(estimate) if estimate and known else tables.unknown().text
    if metric in test.kind.supporting_metrics:
        return Field(text, tone="bad" if standing.loses else "")
    if standing.overload:
        # The response times of an overloaded setup depend on the test's duration.
        return Field(text if _is_cpu(test, metric) else tables.unknown().text, UNSUSTAINED, tone="bad")
    if standing.fails:
        return Field(text, _failure(standing), tone="bad")
    if not column.compared:
        return Field(text)
    if label not in results.candidates:
        return Field(text, BASELINE)
    comparison = results.comparisons.get((label, test.name, metric.name))
    if comparison is None or results.standings[results.baseline_of(label), test.name].trouble:
        return Field(text)
    if comparison.verdict is Verdict.EQUIVALENT:
        return Field(text, SAME)
    if comparison.verdict is Verdict.INCONCLUSIVE or noisy(comparison):
        return Field(text, UNSURE)
    return Field(text, _range(comparison), tone=TONES.get(comparison.verdict, ""))


def _failure(standing: Standing) -> str:
    if standing.loses:
        return f"loses {percent(standing.lost)}"
    if standing.failed > standing.allowed:
        return f"{standing.failed:.1%} failed"
    return f"{percent(standing.unconnected)} unconnected"


def _range(comparison: Comparison) -> str:
    """Format the interval of a ratio, such as ``×1.41–2.6``, or ``over ×1.41`` if the upper end is open."""
    low, high = comparison.low, comparison.high
    if low <= 0:
        return f"under ×{_end(high)}"
    if not math.isfinite(high):
        return f"over ×{_end(low)}"
    return f"×{'–'.join(dict.fromkeys((_end(low), _end(high))))}"


def _end(value: float) -> str:
    """Format one end of an interval with two significant digits, or with two decimals near 1."""
    if value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 2 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _memory(results: Results, label: str) -> float | None:
    found = (results.estimate(label, test.name, MEMORY_PEAK.name) for test in results.tests)
    return max((estimate.value for estimate in found if estimate), default=None)


def _marks(results: Results) -> Iterator[tuple[str, str]]:
    """Yield each mark that can follow a figure, with the sentence that explains the mark."""
    yield NOT_FULL, f"{NOT_FULL}: the servers' cores weren't fully busy, and busier cores may need less CPU time."
    comparisons = results.comparisons.values()
    family = max((one.family for one in comparisons), default=0)
    if results.record.advice is not None or not family or results.blocks < 2:
        return
    adjusted = f"s, adjusted for {plural(family, 'comparison')}" if family > 1 else ""
    yield "×", f"×N relative to {results.baseline_name}; 95% confidence interval{adjusted}."
    yield SAME, f"{SAME}: within ±{results.study.delta:.0%} of {results.baseline_name}."
    bounded = any(one.at_least or one.at_most for one in comparisons)
    bound = ", or only a bound is known" if bounded else ""
    text = f"{UNSURE}: inconclusive, or within the noise floor{bound}{_resolution(results)}."
    yield UNSURE, f"{text} {what_would_settle(comparisons)}".rstrip()


def _resolution(results: Results) -> str:
    """Describe the run's resolution: for each metric, the ratio below which a difference is typically inconclusive."""
    widths: dict[str, list[float]] = {}
    for test in by_importance(results):
        metric = test.judged[0]
        for one in results.comparisons.values():
            # Ignore bounds, because their intervals stay open at one end, even with more blocks.
            if (one.test, one.metric) == (test.name, metric.name) and not (one.at_least or one.at_most):
                widths.setdefault(metric.short or metric.label, []).append(1 + plus_minus(one.low, one.high))
    typical = {name: median(found) for name, found in widths.items()}
    known = [f"×{_end(width)} in {name}" for name, width in typical.items() if width < UNINFORMATIVE]
    return f" (resolution {series(known)})" if known else ""


def flagged(results: Results) -> str:
    """Return a sentence with the number of trials, and the reasons why trials are invalid or doubtful."""
    parts = [f"{plural(len(results.trials), 'trial')} in {plural(results.blocks, 'block')}"]
    for severity in Severity:
        by_trial = [[flag.reason for flag in trial.flags if flag.severity == severity] for trial in results.trials]
        reasons = dict.fromkeys(reason for own in by_trial for reason in own)
        if reasons:
            parts.append(f"{sum(map(bool, by_trial))} {severity.value} ({'; '.join(map(_meaning, reasons))})")
    return f"{', '.join(parts)}{', none invalid or doubtful' if len(parts) == 1 else ''}."


def _meaning(reason: str) -> str:
    """Return a short explanation of a flag's reason, or the name of a reason that another version has recorded."""
    meaning = Reason[reason].meaning if reason in Reason.__members__ else reason.replace("_", " ")
    return re.split(r"[,;:] | \(", meaning)[0]
