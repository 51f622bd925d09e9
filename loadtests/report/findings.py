"""Describe the findings of a run: an answer to each question, with a winner if the differences are significant.

A setup is *behind* another setup if the intervals of their ratios to the baseline prove this. All these intervals hold
at the same time with 95% confidence, so the ratio of two setups is between the quotients of the ends of their
intervals. A setup wins only if all other setups are behind it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict, verdict
from loadtests.formatting import NOT_REACHED, capital, figure, number, plural, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report.points import by_engine
from loadtests.report.verdict_text import effect, noisy
from loadtests.report.view import Finding

NAMED = 5  # maximum number of setups whose figures a sentence lists; for more setups, the sentence shows the range
MAX_NAMED = 12  # maximum number of setups in a sentence


@dataclass(frozen=True)
class MetricOutcome:
    """The outcome of a test in one metric.

    Attributes:
        brief: The first sentence.
        more: The other sentences.
        title: The title of a chart, or an empty string if the outcome doesn't cover all setups.
        certain: Whether the outcome is certain, because a setup wins or differs from its baseline.
    """

    brief: str
    more: str = ""
    title: str = ""
    certain: bool = False


@dataclass(frozen=True)
class _Ratio:
    """A setup's ratio to the baseline with its interval. The baseline's ratio is exactly 1."""

    label: str
    low: float = 1.0
    ratio: float = 1.0
    high: float = 1.0


def findings(results: Results) -> tuple[Finding, ...]:
    """Return a finding about each judged metric of each test."""
    found = [_finding(results, test, metric) for test in by_importance(results) for metric in test.judged]
    return tuple(finding for finding in found if finding)


def by_importance(results: Results) -> list[Test]:
    """Return the tests in the order of importance: first tests that measure rates, then tests that measure times."""
    return sorted(results.tests, key=lambda test: not test.judged[0].more_is_better)


def title(results: Results, test: Test, metric: Metric) -> str:
    """Return the title of a metric's chart, which states the result, such as the winner."""
    labels = results.labels_without_copy(test.name)
    overloaded = [label for label in labels if results.standings[label, test.name].overload]
    if overloaded and not results.own_baselines:
        return f"{len(overloaded)} of {plural(len(labels), 'setup')} cannot sustain the load"
    outcome = _outcome(results, test, metric)
    words = metric.with_unit(metric.in_words(results.latency(test.name)))
    return outcome.title if outcome and outcome.title else capital(words)


def certainty(results: Results) -> str:
    """Return a sentence about the certainty of the findings, or an empty string without comparisons."""
    family = results.family
    if not family or results.blocks < 2:
        return ""
    noise = ", and outside the machine's noise floor if it is known" if results.floors else ""
    return (
        f"Differences are significant with 95% confidence, adjusted for {plural(family, 'comparison')}{noise}. "
        "Inconclusive setups aren't ranked."
    )


def condition(results: Results, test: Test) -> str:
    """Return a test's conditions, such as ``at 300 requests/s``, with its path and engine if the study uses several."""
    several = len({other.short_description for other in results.tests}) > 1
    path = f" for {test.short_description.removeprefix('GET ')}" if several else ""
    return f"{test.condition}{path}{by_engine(results, test)}"


def _finding(results: Results, test: Test, metric: Metric) -> Finding | None:
    outcome = _outcome(results, test, metric)
    if outcome is None:
        return None
    unit = test.kind.timed_unit or test.kind.cost_unit.singular
    topic = capital(metric.topic.format(latency=results.latency(test.name), one=unit))
    return Finding(
        f"{topic} {condition(results, test)}",
        f"{outcome.brief}{outcome.more}",
        brief=outcome.brief,
        certain=outcome.certain,
        test=test.name,
    )


def _outcome(results: Results, test: Test, metric: Metric) -> MetricOutcome | None:
    """Return the outcome of a test in one metric, or None if no setup has a figure."""
    if results.own_baselines:
        return _paired(results, test, metric)
    ranking = _Ranking(results, test, metric)
    if ranking.figures:
        return ranking.outcome()
    return MetricOutcome("No setup is ranked.", f"{ranking.missing}{ranking.unranked}") if ranking.unranked else None


def _paired(results: Results, test: Test, metric: Metric) -> MetricOutcome | None:
    """Describe the differences of setups from their own baselines. The pairs aren't ranked."""
    keys = ((label, test.name, metric.name) for label in results.candidates)
    found = [one for key in keys if (one := results.comparisons.get(key))]
    if not found:
        return None
    unclear = (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
    differing = [one for one in found if one.verdict not in unclear and not noisy(one)]
    same = [one.candidate for one in found if one.verdict is Verdict.EQUIVALENT]
    rest = [one.candidate for one in found if one not in differing and one.candidate not in same]
    time = results.latency(test.name)
    count = f"All {len(found)}" if len(differing) == len(found) > 1 else f"{len(differing)} of {len(found)}"
    title = f"{count} differ from their own baselines"
    effects = series([f"{one.candidate} {effect(one, time)}" for one in differing], MAX_NAMED)
    brief = f"{title}{': ' if effects else ''}{effects}."
    more = f" Equivalent within ±{results.study.delta:.0%}: {series(same, MAX_NAMED)}." if same else ""
    more += f" Inconclusive: {series(rest, MAX_NAMED)}." if rest else ""
    return MetricOutcome(brief, more, title, certain=bool(differing))


def _supporting(results: Results, test: Test, metric: Metric, labels: list[str]) -> str:
    """Return sentences with the lowest value of each supporting metric, because ranked figures could mislead."""
    if metric is test.kind.cost_unit.cpu:
        return ""
    standings = [results.standings[label, test.name] for label in labels]
    text = ""
    for share in test.kind.supporting_metrics:
        known = [one.value for label in labels if (one := results.estimate(label, test.name, share.name))]
        # Also check for failures and losses, because a mean over blocks may hide a single missing message.
        if known and share.complete and not any(one.failed or one.lost for one in standings):
            text += f" {share.complete}"
        elif known:
            text += f" {share.label.capitalize()}: {math.floor(100 * min(known)) / 100:.2f}{share.unit} or more."
    return text


class _Ranking:
    """A ranking of the setups in one test by one metric."""

    def __init__(self, results: Results, test: Test, metric: Metric) -> None:
        self.results = results
        self.test = test
        self.metric = metric
        labels = [label for label in results.by_estimate(test, metric) if label != results.aa_copy]
        standings = {label: results.standings[label, test.name] for label in labels}
        failing = {label: standing for label, standing in standings.items() if standing.trouble}
        labels = [label for label in labels if label not in failing]
        figures = {label: one for label in labels if (one := results.estimate(label, test.name, metric.name))}
        rates = figures if metric.is_throughput and len(labels) > 1 else {}
        bounds = [label for label, one in rates.items() if one.at_least]
        self.figures = {label: one for label, one in figures.items() if label not in bounds}
        shares = [
            f"{label} ({series(one.failure_shares('its')) or f'{one.failed:.2%} of its {one.units} failed'})"
            for label, one in failing.items()
        ]
        shares += [f"{label} ({figure(figures[label])} {metric.unit}, a lower bound)" for label in bounds]
        trials = [trial for label in labels for trial in results.cells[label, test.name].valid]
        whys = {trial.label: f" ({why})" for trial in trials if (why := test.why_unknown(trial))}
        missing = [f"{label}{whys.get(label, '')}" for label in labels if label not in figures]
        self.missing = f" Without a figure: {series(missing)}." if missing else ""
        self.unranked = f" Not ranked: {series(shares)}." if shares else ""

    def outcome(self) -> MetricOutcome:
        """Compare all setups with each other, and describe the leading setups."""
        known = list(self.figures)
        more = f"{_supporting(self.results, self.test, self.metric, known)}{self.missing}{self.unranked}"
        ratios = {label: ratio for label in known if (ratio := self._ratio(label))}
        if len(known) == 1:
            return MetricOutcome(f"{self._listed(known)}.", more)
        if len(ratios) < len(known):
            start = f"Not every setup can be compared with {self.results.baseline}"
            return MetricOutcome(f"{start}: {self._listed(known)}.", more)
        behind = {
            one.label
            for one, other in itertools.permutations(ratios.values(), 2)
            if self._between(one, other) is Verdict.SLOWER
        }
        ahead = [label for label in known if label not in behind]
        rest = [label for label in known if label in behind]
        among = " of the ranked setups" if self.missing or self.unranked else ""
        more = f"{f' The rest: {self._range(rest)}.' if rest else ''}{more}"
        if len(ahead) == 1:
            title = f"{ahead[0]} {self.metric.verb}{among}, {self._with_unit(figure(self.figures[ahead[0]]))}"
            margin = self._margin(ratios[ahead[0]], [ratios[label] for label in rest])
            return MetricOutcome(f"{title}{margin}.", more, title, certain=True)
        pairs = itertools.combinations([ratios[label] for label in ahead], 2)
        equivalent = all(self._between(one, other) is Verdict.EQUIVALENT for one, other in pairs)
        this = (self.test.name, self.metric.name)
        blocks = [one.blocks for one in self.results.comparisons.values() if (one.test, one.metric) == this]
        within, after = f"equivalent within ±{self.results.study.delta:.0%}", f"after {span(blocks, 'block')}"
        if not rest:
            title = f"{f'All {within}' if equivalent else f'No significant difference {after}'}{among}"
            return MetricOutcome(f"{title}: {self._range(known)}.", more, title)
        title = f"{capital(within) if equivalent else f'No clear winner {after}'}{among}"
        lead = series(ahead) if len(ahead) <= 3 else f"{len(ahead)} of {len(known)}"
        return MetricOutcome(f"{title}. Leading group: {self._listed(ahead)}.", more, f"{title}: {lead} lead")

    def _ratio(self, label: str) -> _Ratio | None:
        if label == self.results.baseline:
            return _Ratio(label)
        one = self.results.comparisons.get((label, self.test.name, self.metric.name))
        return _Ratio(label, one.low, one.ratio, one.high) if one else None

    def _between(self, one: _Ratio, other: _Ratio) -> Verdict:
        """Return the verdict on one setup compared with another. Differences within the noise are inconclusive."""
        low = one.low / other.high
        high = one.high / other.low if other.low > 0 else math.inf
        outcome = verdict(low, high, self.results.study.delta, self.metric.more_is_better)
        floor = self.results.floors.get((self.test.name, self.metric.name))
        differ = outcome in (Verdict.FASTER, Verdict.SLOWER)
        return Verdict.INCONCLUSIVE if differ and floor and floor.covers(one.ratio / other.ratio) else outcome

    def _margin(self, first: _Ratio, others: list[_Ratio]) -> str:
        """Describe the winner's minimum lead, based on the nearest end of the other setups' intervals."""
        who = "the other ranked setups" if self.missing or self.unranked else "the others"
        if self.metric.more_is_better:
            nearest = math.ceil(100 * max(other.high for other in others) / first.low) / 100
            return "" if nearest == 1 else f"; {who} reach at most {nearest:.0%} of that"
        nearest = math.floor(100 * min(other.low for other in others) / first.high) / 100
        return "" if nearest == 1 else f"; {who} take at least {nearest:.2f} times that"

    def _listed(self, labels: list[str]) -> str:
        """List setups with figures, such as ``gunicorn 2.07 and uvicorn 3.11 ms``, or many setups with a range."""
        if len(labels) > NAMED:
            return f"{series(labels, MAX_NAMED)}, {self._range(labels)}"
        return self._with_unit(series([f"{label} {figure(self.figures[label])}" for label in labels]))

    def _range(self, labels: list[str]) -> str:
        """Format a range of the setups' figures, such as ``3.11 to 87.1 ms``, or one figure if its ends look equal."""
        figures = sorted((self.figures[label] for label in labels), key=lambda one: one.value)
        return self._with_unit(" to ".join(dict.fromkeys((number(figures[0].value), figure(figures[-1])))))

    def _with_unit(self, text: str) -> str:
        return text if text.endswith(NOT_REACHED) else f"{text} {self.metric.unit}".rstrip()
