"""Describe the findings of a run: an answer to each question, with a winner if the differences are significant.

A setup is *behind* another setup if the intervals of their ratios to the baseline prove this. All these intervals hold
at the same time with 95% confidence, so the ratio of two setups is between the quotients of the ends of their
intervals. A setup wins only if all other setups are behind it.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict, verdict
from loadtests.formatting import NOT_REACHED, capital, figure, number, percent, plural, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report import pair_findings
from loadtests.report.points import by_engine
from loadtests.report.view import Finding

NAMED = 5  # maximum number of setups whose figures a sentence lists; for more setups, the sentence shows the range
MAX_NAMED = 12  # maximum number of setups in a sentence


@dataclasses.dataclass(frozen=True)
class _Ratio:
    """A setup's ratio to the baseline with its interval. The baseline's ratio is exactly 1."""

    label: str
    low: float = 1.0
    ratio: float = 1.0
    high: float = 1.0


def findings(results: Results) -> tuple[Finding, ...]:
    """Return findings about setups that can't sustain a rate or lose deliveries, and about each judged metric."""
    tests = by_importance(results)
    found = [
        *(_unsustained(results, test) for test in tests),
        *(_losses(results, test) for test in tests),
        *(_finding(results, test, metric) for test in tests for metric in test.judged),
    ]
    return tuple(finding for finding in found if finding)


def by_importance(results: Results) -> list[Test]:
    """Return the tests in the order of importance: first tests that measure rates, then tests that measure times."""
    return sorted(results.tests, key=lambda test: not test.judged[0].more_is_better)


def title(results: Results, test: Test, metric: Metric) -> str:
    """Return the title of a metric's chart, which states the result, such as the winner."""
    if results.own_baselines:
        return pair_findings.title(results, test, metric)
    ranking = _Ranking(results, test, metric)
    overloaded = [label for label in ranking.failing if ranking.failing[label].overload]
    if overloaded:
        of = len(ranking.failing) + len(ranking.figures)
        return f"{series(overloaded) if len(overloaded) <= 3 else f'{len(overloaded)} of {of}'} cannot sustain the load"
    if ranking.known:
        ranking.sentences()
    words = metric.with_unit(metric.in_words(results.latency(test.name)))
    return ranking.title or capital(words)


def certainty(results: Results) -> str:
    """Return a sentence about the certainty of the findings, or an empty string if nothing is compared."""
    family = max((one.family for one in results.comparisons.values()), default=0)
    if not family or results.blocks < 2:
        return ""
    compared = {(one.test, one.metric) for one in results.comparisons.values()}
    if results.own_baselines:
        return f"All intervals hold at the same time with 95% confidence, adjusted for {plural(family, 'comparison')}."
    known = "" if compared <= results.floors.keys() else "where it is known, "
    noise = f" and, {known}outside the machine's noise floor" if results.floors else ""
    return (
        f"A winner is named with 95% confidence, adjusted for {plural(family, 'comparison')}{noise}. "
        "Inconclusive setups aren't ranked."
    ).replace("and, outside", "and outside")


def condition(results: Results, test: Test) -> str:
    """Return a test's conditions, such as ``at 300 requests/s``, with its path and engine if the study uses several."""
    several = len({other.short_description for other in results.tests}) > 1
    path = f" for {test.short_description.removeprefix('GET ')}" if several else ""
    return f"{test.condition}{path}{by_engine(results, test)}"


def _unsustained(results: Results, test: Test) -> Finding | None:
    labels = results.labels_without_copy(test.name)
    found = [label for label in labels if results.standings[label, test.name].overload]
    text = "; ".join(f"{label} {results.standings[label, test.name].trouble}" for label in found)
    return _with_others(results, test, "Which setups sustain the load", found, text)


def _losses(results: Results, test: Test) -> Finding | None:
    labels = results.labels_without_copy(test.name)
    found = [label for label in labels if results.standings[label, test.name].loses]
    text = series([f"{label} loses {percent(results.standings[label, test.name].lost)}" for label in found])
    return _with_others(results, test, "Which setups deliver all messages", found, text)


def _with_others(results: Results, test: Test, question: str, found: list[str], text: str) -> Finding | None:
    """Return a finding about the setups that fail (``found``) and the other setups, or None if no setup fails."""
    labels = results.labels_without_copy(test.name)
    if not found:
        return None
    known = all(results.cells[label, test.name].valid for label in labels)
    others = "None does." if len(found) == len(labels) else "All others do." if known else ""
    return Finding(f"{question}, {condition(results, test)}", f"{text}. {others}".rstrip())


def _finding(results: Results, test: Test, metric: Metric) -> Finding | None:
    unit = test.kind.timed_unit or test.kind.cost_unit.singular
    topic = capital(metric.topic.format(latency=results.latency(test.name), one=unit))
    if results.own_baselines:
        brief, whole, certain = pair_findings.sentences(results, test, metric)
        asked = f"{topic} {condition(results, test)}"
        return Finding(asked, whole, brief=brief, certain=certain, topic=topic, test=test.name) if brief else None
    ranking = _Ranking(results, test, metric)
    if not ranking.known and not ranking.unranked:
        return None
    brief, whole = ranking.sentences() if ranking.known else ("No setup is ranked.",) * 2
    return Finding(
        f"{topic} {condition(results, test)}",
        f"{whole}{_supporting(results, test, metric, ranking.known)}{ranking.left_out}{ranking.unranked}",
        brief=brief,
        certain=f" {metric.verb}" in brief,
        leaders=ranking.leaders,
        topic=topic,
        test=test.name,
    )


def _supporting(results: Results, test: Test, metric: Metric, labels: list[str]) -> str:
    """Return sentences with the lowest value of each supporting metric, because ranked figures alone could mislead."""
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
    """A ranking of the setups in one test by one metric. The method ``sentences`` sets ``leaders`` and ``title``."""

    def __init__(self, results: Results, test: Test, metric: Metric) -> None:
        self.results = results
        self.test = test
        self.metric = metric
        labels = [label for label in results.by_estimate(test, metric) if label != results.aa_copy]
        standings = {label: results.standings[label, test.name] for label in labels}
        self.failing = failing = {label: standing for label, standing in standings.items() if standing.trouble}
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
        self.unranked = f" Not ranked: {series(shares)}." if shares else ""
        self.all_overloaded = all(one.overload for one in failing.values())
        self.known = list(self.figures)
        self.leaders = self.title = ""
        self.left_out = _left_out(results, test, metric, labels)

    def sentences(self) -> tuple[str, str]:
        """Return a brief answer, and an answer that also describes the setups that don't lead."""
        if len(self.known) == 1:
            return (f"{self._listed(self.known)}.",) * 2
        ratios = {label: ratio for label in self.known if (ratio := self._ratio(label))}
        if len(ratios) < len(self.known):
            return (f"Not every setup can be compared with {self.results.baseline}: {self._listed(self.known)}.",) * 2
        behind = {
            one.label
            for one, other in itertools.permutations(ratios.values(), 2)
            if self._between(one, other) is Verdict.SLOWER
        }
        ahead = [label for label in self.known if label not in behind]
        return self._winner(ratios, ahead[0]) if len(ahead) == 1 else self._leading_group(ratios, ahead)

    def _among(self) -> str:
        """Return the group that the winner leads, such as ``of the ranked setups``, or "" if it leads all setups."""
        if self.unranked:
            sustaining = self.failing and self.all_overloaded and not self.left_out
            return " of the setups that sustain the rate" if sustaining else " of the ranked setups"
        return " of the setups with a figure" if self.left_out else ""

    def _winner(self, ratios: dict[str, _Ratio], first: str) -> tuple[str, str]:
        self.leaders = f"{first} first"
        others = [label for label in self.known if label != first]
        figure = self._listed([first]).removeprefix(f"{first} ")
        margin = self._margin(ratios[first], [ratios[label] for label in others])
        self.title = f"{first} {self.metric.verb}{self._among()}, {figure}"
        brief = f"{self.title}{margin}."
        return brief, f"{brief} {self._rest(others)}"

    def _leading_group(self, ratios: dict[str, _Ratio], ahead: list[str]) -> tuple[str, str]:
        pairs = itertools.combinations([ratios[label] for label in ahead], 2)
        equivalent = all(self._between(one, other) is Verdict.EQUIVALENT for one, other in pairs)
        within = f"within ±{self.results.study.delta:.0%}"
        rest = [label for label in self.known if label not in ahead]
        many = len(ahead) > NAMED
        who = series(ahead) if len(ahead) <= MAX_NAMED else f"{len(ahead)} of {len(self.known)}"
        if not rest:
            figures = self._listed(self.known).removeprefix(series(self.known)).removeprefix(", ")
            blocks = self._blocks(ahead)
            # After one block, there are no intervals. "No significant difference" would contradict a chart whose bars
            # differ much.
            undecided = "no verdict" if blocks.startswith("1 ") else "no significant difference"
            outcome = f"All equivalent {within}" if equivalent else f"{undecided.capitalize()} after {blocks}"
            self.leaders = f"{who} lead" if self._among() else "all"
            self.leaders += f" (equivalent {within})" if equivalent else f" ({undecided})"
            self.title = f"{outcome}{self._among()}"
            return (f"{outcome}: {figures}.",) * 2
        self.leaders = f"{who} lead ({f'equivalent {within}' if equivalent else 'no clear winner'})"
        outcome = f"Equivalent {within}" if equivalent else f"No clear winner after {self._blocks(ahead)}"
        listed = self._listed(ahead)
        if many and len(rest) <= NAMED:
            listed = listed.replace(series(ahead), f"all but {series(rest)}", 1)
        short = f"{who}, {self._range(ahead)}" if len(ahead) > MAX_NAMED else listed
        lead = series(ahead) if len(ahead) <= 3 else f"{len(ahead)} of {len(self.known)}"
        self.title = f"{outcome}{self._among()}: {lead} lead"
        start = f"{outcome}{self._among()}. Leading group: "
        return f"{start}{short}.", f"{start}{listed}. {self._rest(rest)}"

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
        who = "all others of these" if self._among() else "all others"
        if self.metric.more_is_better:
            nearest = math.ceil(100 * max(other.high for other in others) / first.low) / 100
            return "" if nearest == 1 else f"; {who} reach at most {nearest:.0%} of that"
        nearest = math.floor(100 * min(other.low for other in others) / first.high) / 100
        nearest = math.floor(10 * nearest) / 10 if nearest >= 2 else nearest
        more = f"{nearest:.1f} times that" if nearest >= 2 else f"{nearest - 1:.0%} more"
        return "" if nearest == 1 else f"; {who} take at least {more}"

    def _blocks(self, labels: list[str]) -> str:
        comparisons = [self.results.comparisons.get((label, self.test.name, self.metric.name)) for label in labels]
        return span([one.blocks for one in comparisons if one] or [self.results.blocks], "block")

    def _listed(self, labels: list[str]) -> str:
        """List setups with figures, such as ``gunicorn 2.07 and uvicorn 3.11 ms``, or many setups with a range."""
        if len(labels) > NAMED:
            return f"{series(labels)}, {self._range(labels)}"
        return series(self._with_unit([f"{label} {figure(self.figures[label])}" for label in labels]))

    def _rest(self, labels: list[str]) -> str:
        """Return a sentence about the setups that don't lead, such as ``The rest: 3.11 to 87.1 ms``."""
        return f"{self._listed(labels)}." if len(labels) == 1 else f"The rest: {self._range(labels)}."

    def _range(self, labels: list[str]) -> str:
        """Format a range of the setups' figures, such as ``3.11 to 87.1 ms``, or one figure if its ends look equal."""
        figures = sorted((self.figures[label] for label in labels), key=lambda one: one.value)
        ends = dict.fromkeys((number(figures[0].value), figure(figures[-1])))
        return " to ".join(self._with_unit(list(ends)))

    def _with_unit(self, figures: list[str]) -> list[str]:
        """Append the unit to the last text that contains a number, because "not reached" has no unit."""
        last = max((k for k, text in enumerate(figures) if not text.endswith(NOT_REACHED)), default=-1)
        return [f"{text} {self.metric.unit}".rstrip() if k == last else text for k, text in enumerate(figures)]


def _left_out(results: Results, test: Test, metric: Metric, labels: list[str]) -> str:
    """Describe the setups without a figure. In a search, also describe lower bounds, which could be the best."""
    if test.search is None or metric is not test.decisive:
        missing = [label for label in labels if not results.estimate(label, test.name, metric.name)]
        return f" Without a figure: {series(missing)}." if missing else ""
    reasons = []
    for label in labels:
        trials = results.cells[label, test.name].valid
        unknown = [why for trial in trials if (why := test.why_unknown(trial))]
        if not trials:
            reasons.append(f"{label}: no valid trial")
        elif unknown:
            share = f" in {len(unknown)} of {plural(len(trials), 'block')}" if len(unknown) < len(trials) else ""
            reasons.append(f"{label}{share}: {unknown[-1]}")
    return f" Not found: {'; '.join(reasons)}." if reasons else ""
