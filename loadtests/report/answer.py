"""Create the short answer at the top of a report: failures, winners, and a table with a row for each setup."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import figure, number, per_second, percent, plural, series
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import MEMORY_PEAK, Metric
from loadtests.plan.trial_count import TrialCount
from loadtests.report import cpu_load, leading_counts, setup_names, tables
from loadtests.report.findings import MAX_NAMED, by_importance, condition
from loadtests.report.sections import load_curve, overview
from loadtests.report.verdict_text import TONES, noisy, what_would_settle
from loadtests.report.view import Field, Finding, RunAnswer, Table
from loadtests.trials.overload import FAILED, Standing
from loadtests.trials.reasons import Reason, Severity
from loadtests.trials.refused import cause, no_journey, refusal

UNSURE, SAME, UNSUSTAINED, NOT_FULL = "?", "same", "cannot sustain", "*"
BASELINE = "×1"
SESSION_ERRORS = {"mixed-up": "mixed up", "lost-session": "lost"}
UNVERIFIED = (
    "Figures in brackets are unverified: contention or the generator disturbed all their trials, so they aren't "
    "ranked. For a result, stop other programs and measure again."
)


@dataclasses.dataclass(frozen=True)
class _Column:
    """A column of the answer's table.

    Attributes:
        heading: The heading.
        condition: The test conditions for the legend, or an empty string if the heading contains them.
        read: A function that returns the field of a setup.
        optional: Whether a table that is too wide leaves out this column first.
    """

    heading: str
    condition: str
    read: Callable[[str], Field]
    optional: bool = False


def answer(results: Results, advice: Sequence[Finding], findings: Sequence[Finding], notes: Sequence[str]) -> RunAnswer:
    """Create the short answer of a run from its results, advice and findings. ``notes`` appear below the table."""
    headlines = (
        *overview.two_machines(results),
        *_problems(results),
        *(f"{one.question}: {one.answer}" for one in advice),
    )
    figures = _figures(results)
    counts = [(test, counted) for test in by_importance(results) for counted in test.answering]
    if not (figures or counts):
        return RunAnswer(headlines, (), None, (), (), tuple(notes))
    columns = list(_columns(results, counts, figures))
    most = by_importance(results)[0]
    first = leading_counts.ordered(results, *counts[0]) if counts else results.by_estimate(most, most.judged[0])
    labels = [label for label in dict.fromkeys([*first, *results.labels]) if label != results.aa_copy]
    places = range(len(columns), 0, -1)
    table = Table(
        "answer",
        "Setup by setup",
        ("setup", *(column.heading for column in columns)),
        tuple(
            (Field(label, setup_names.shown_with(results, label)), *(column.read(label) for column in columns))
            for label in labels
        ),
        numeric=frozenset(places),
        optional=tuple(sorted(places[:-1], key=lambda place: not columns[place - 1].optional)),
    )
    details = "".join(field.detail for row in table.rows for field in row[1:])
    return RunAnswer(
        headlines,
        winners(results, findings),
        table,
        ("", *(column.condition for column in columns)),
        tuple((sign, meaning) for sign, meaning in _marks(results) if sign in details),
        tuple(notes),
        (UNVERIFIED,) if any(cell.unverified for cell in results.cells.values()) else (),
    )


def winners(results: Results, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return a sentence for each question, except about inner steps of a load curve. Certain answers come first."""
    inner = [test.name for test in results.tests if load_curve.is_inner(results, test)]
    found = sorted((one for one in findings if one.test not in inner), key=lambda one: not one.certain)
    return tuple(f"{one.question}: {one.brief}" for one in found)


def _problems(results: Results) -> Iterator[str]:
    """Yield a sentence for each test and each kind of problem. Setups with the same problem are listed together."""
    for test in results.tests:
        found: dict[str, dict[str, list[str]]] = {}
        for label in results.labels_without_copy(test.name):
            for what, why in _problems_of(results, label, test):
                found.setdefault(what, {}).setdefault(why, []).append(label)
        for what, labels in found.items():
            listed = [f"{series(named, MAX_NAMED)} ({why})" for why, named in labels.items()]
            yield f"{what} {condition(results, test)}: {series(listed, MAX_NAMED)}."


def _problems_of(results: Results, label: str, test: Test) -> Iterator[tuple[str, str]]:
    """Yield the kind and the description of each problem of a setup in a test."""
    cell, standing = results.cells[label, test.name], results.standings[label, test.name]
    # Refusals and lost sessions are also reported for invalid trials.
    trials = [trial.result for trial in (*cell.valid, *cell.invalid) if trial.result]
    sessions = {text: sum(one.errors.get(kind, 0) for one in trials) for kind, text in SESSION_ERRORS.items()}
    if any(sessions.values()):
        yield "Sessions were not kept", series([f"{count:,} {text}" for text, count in sessions.items() if count])
    refusals = (refusal(one, test.sign_in) for one in trials)
    if why := next(filter(None, refusals), "") or no_journey(trials):
        yield "Unusable answers", why
    if overload := standing.overload:
        yield "Cannot sustain the load", f"only about {per_second(overload.sustains)}/s, {overload.why}"
    elif standing.loses:
        yield "Deliveries were lost", percent(standing.lost)
    elif standing.failed > standing.allowed:
        causes = dict.fromkeys(cause(trial.result) for trial in cell.valid if trial.result and trial.result.failed)
        why = series(list(causes), MAX_NAMED)
        yield f"{test.kind.load_unit.capitalize()}s failed ({why})", f"{standing.failed:.2%}"
    if standing.unconnected > FAILED and not standing.overload:
        yield "Connections were refused or lost", percent(standing.unconnected)
    if cell.invalid and not cell.valid:
        yield "No valid trial", tables.why_empty(cell)


def _figures(results: Results) -> list[tuple[Test, Metric]]:
    """Return the tests and metrics of the table's columns. The most important column is first.

    The table starts with the supporting metrics and the first judged metric of each test, with rates before times. Then
    it shows the CPU time (if possible, from a closed loop), and other judged metrics of the first test of each kind.
    """
    # A chart shows the whole load curve, so the table contains only the first and the last test of the curve.
    tests = [test for test in by_importance(results) if not load_curve.is_inner(results, test)]
    first_of_kind = {test.kind: test for test in reversed(tests)}
    found = [(test, metric) for test in tests for metric in (*test.kind.supporting_metrics, test.judged[0])]
    cpu: dict[Metric, Test] = {}
    for test in sorted(tests, key=lambda test: not test.pace.is_closed_loop):
        if _known(results, test, test.kind.cost_unit.cpu):
            cpu.setdefault(test.kind.cost_unit.cpu, test)
    found += [(test, metric) for metric, test in cpu.items()]
    found += [(test, metric) for test in first_of_kind.values() for metric in test.judged[1:] if metric not in cpu]
    return [one for one in dict.fromkeys(found) if _known(results, *one)]


def _known(results: Results, test: Test, metric: Metric) -> bool:
    names = [(label, test.name, metric.name) for label in results.labels]
    return any(results.estimate(*one) or results.unverified(*one) for one in names)


def _columns(
    results: Results, counts: Sequence[tuple[Test, TrialCount]], figures: Sequence[tuple[Test, Metric]]
) -> Iterator[_Column]:
    """Yield a column for each count and each figure, and a column of the memory."""
    several = len({test for test, _ in counts}) > 1
    for test, counted in counts:
        name = f"{counted.name} {test.name}" if several else counted.name
        yield _Column(name, condition(results, test), partial(_count, results, test, counted))
    for test, metric in figures:
        same = [other for other, known in figures if known is metric]
        name, where = metric.short or metric.label, condition(results, test)
        if is_cpu := metric is test.kind.cost_unit.cpu:
            name = f"{name} {cpu_load.at_load(results, test)}".rstrip()
            where = "" if test.pace.rate_found else where
        if len(same) > 1:
            # The names of a kind's tests usually start with the kind, so the rest of the name distinguishes them.
            of_kinds = len({other.kind for other in same}) > 1
            name = f"{name} {test.name if of_kinds else test.name.removeprefix(test.tag).lstrip('-')}".rstrip()
        is_first = test is figures[0][0] and metric in (*test.kind.supporting_metrics, test.judged[0])
        optional = not is_cpu and (bool(counts) or not is_first)
        yield _Column(metric.with_unit(name), where, partial(_field, results, test, metric), optional)
    if any(results.estimate(label, test.name, MEMORY_PEAK.name) for label in results.labels for test in results.tests):
        yield _Column("MB", "at peak", partial(_memory, results))


def _count(results: Results, test: Test, counted: TrialCount, label: str) -> Field:
    return tables.count(results.cells[label, test.name], counted)


def _field(results: Results, test: Test, metric: Metric, label: str) -> Field:
    """Return a setup's figure and its ratio to the baseline. Mark a CPU time if the servers' cores were partly idle."""
    found = _compared(results, test, metric, label)
    is_idle = metric is test.kind.cost_unit.cpu and results.is_lower_bound(label, test.name)
    return dataclasses.replace(found, detail=f"{found.detail} {NOT_FULL}".lstrip()) if is_idle else found


def _compared(results: Results, test: Test, metric: Metric, label: str) -> Field:
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
        return Field(text if metric is test.kind.cost_unit.cpu else tables.unknown().text, UNSUSTAINED, tone="bad")
    if standing.fails:
        return Field(text, _failure(standing), tone="bad")
    if len(results.labels) == 1 or metric not in test.judged:
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


def _memory(results: Results, label: str) -> Field:
    found = (results.estimate(label, test.name, MEMORY_PEAK.name) for test in results.tests)
    return Field(number(max((estimate.value for estimate in found if estimate), default=None)))


def _marks(results: Results) -> Iterator[tuple[str, str]]:
    """Yield each mark that can follow a figure, with the sentence that explains the mark."""
    yield NOT_FULL, f"{NOT_FULL}: the servers' cores weren't fully busy, and busier cores may need less CPU time."
    comparisons = results.comparisons.values()
    family = results.family
    if not family or results.blocks < 2:
        return
    adjusted = f"s, adjusted for {plural(family, 'comparison')}" if family > 1 else ""
    yield "×", f"×N relative to {results.baseline_name}; 95% confidence interval{adjusted}."
    yield SAME, f"{SAME}: within ±{results.study.delta:.0%} of {results.baseline_name}."
    bounded = any(one.at_least or one.at_most for one in comparisons)
    bound = ", or only a bound is known" if bounded else ""
    text = f"{UNSURE}: inconclusive, or within the noise floor{bound}."
    yield UNSURE, f"{text} {what_would_settle(comparisons)}".rstrip()


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
