"""What a reader in a hurry reads: for each thing asked, who is first as far as that is certain.

A setup is *behind* another where the intervals say so: they hold together for all comparisons with the baseline, so
the ratio of two candidates lies between the quotients of their intervals' ends. Who is behind nobody is first; where
that is more than one, nobody is named first.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from operator import attrgetter

from loadtests.analyse.overload import Standing
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict, verdict
from loadtests.formatting import figure, number, percent, plural, series, span
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report.points import by_engine
from loadtests.report.view import Finding

NAMED = 5  # setups whose figures a sentence lists; of more it gives the range


@dataclasses.dataclass(frozen=True)
class _Standing:
    """A setup's ratio to the baseline with its interval; the baseline's own is exactly 1."""

    label: str
    low: float = 1.0
    ratio: float = 1.0
    high: float = 1.0


def findings(results: Results) -> tuple[Finding, ...]:
    """The answers: who cannot hold a rate, who loses what it was to deliver, then one for each test and judged
    metric."""
    tests = as_asked(results)
    held = [finding for test in tests if (finding := _held(results, test))]
    return (
        *held,
        *(finding for test in tests if (finding := _delivers(results, test))),
        *(finding for test in tests for metric in test.judged if (finding := _finding(results, test, metric))),
    )


def as_asked(results: Results) -> list[Test]:
    """The tests in the order of a reader's questions: how much a setup can do before how long it takes."""
    return sorted(results.tests, key=lambda test: not test.judged[0].more_is_better)


def certainty(results: Results) -> str:
    """What "is the fastest" means; empty where nothing is compared."""
    family = max((one.family for one in results.comparisons.values()), default=0)
    if not family or results.blocks < 2:
        return ""
    compared = {(one.test, one.metric) for one in results.comparisons.values()}
    noise = ""
    if results.floors:
        known = "" if compared <= results.floors.keys() else ", where that is known,"
        noise = f" and{known} outside the machine's own noise"
    return (
        f"Who is named first is so with 95% confidence, in all {plural(family, 'comparison')} of the run at once"
        f"{noise}; what is not certain is not ranked."
    )


def _held(results: Results, test: Test) -> Finding | None:
    """Who cannot hold the rate of a test, and what they hold; None where all can."""
    labels = [label for label in results.labels_in(test.name) if label != results.twin]
    found = [label for label in labels if results.standings[label, test.name].overload]
    if not found:
        return None
    told = [f"{label} {results.standings[label, test.name].trouble}" for label in found]
    known = all(results.cells[label, test.name].valid for label in labels)
    others = "None does." if len(found) == len(labels) else "Every other does." if known else ""
    return Finding(f"Who holds the load, {condition(results, test)}", f"{'; '.join(told)}. {others}".rstrip())


def _delivers(results: Results, test: Test) -> Finding | None:
    """Who loses deliveries, and how many; None where nobody does."""
    labels = [label for label in results.labels_in(test.name) if label != results.twin]
    found = [label for label in labels if results.standings[label, test.name].loses]
    if not found:
        return None
    told = [f"{label} loses {percent(results.standings[label, test.name].lost)}" for label in found]
    known = all(results.cells[label, test.name].valid for label in labels)
    others = "None does." if len(found) == len(labels) else "Every other does." if known else ""
    return Finding(f"Who delivers all messages, {condition(results, test)}", f"{series(told)}. {others}".rstrip())


def _finding(results: Results, test: Test, metric: Metric) -> Finding | None:
    one = test.timed_unit or test.cost_unit.singular
    asked = metric.as_question.text.format(latency=results.latency(test.name), one=one)
    answered = _Answer(results, test, metric)
    if not answered.known and not answered.unranked:
        return None
    brief, whole = answered.sentences() if answered.known else ("Nobody is ranked.",) * 2
    about = f"{asked[0].upper()}{asked[1:]}"
    return Finding(
        f"{about} {condition(results, test)}",
        f"{whole}{_beside(results, test, metric, answered.known)}{answered.left_out}{answered.unranked}",
        brief=brief,
        certain=f" {metric.as_question.first}" in brief,
        front=answered.front,
        about=about,
        test=test.name,
    )


def _beside(results: Results, test: Test, metric: Metric, labels: list[str]) -> str:
    """What the figures of those that are ranked are not to be told without, at its least."""
    return "".join(
        f" {_least(results, test, other, labels)}"
        for other in (test.supporting_metrics if metric is not test.cost_unit.cpu else ())
        if any(results.estimate(label, test.name, other.name) for label in labels)
    )


def _least(results: Results, test: Test, share: Metric, labels: list[str]) -> str:
    """The least of a share, or that nobody lacks anything: a mean over blocks may hide a single one that is missing."""
    standings = [results.standings[label, test.name] for label in labels]
    if share.complete and not any(one.failed or one.lost for one in standings):
        return share.complete
    least = min(one.value for label in labels if (one := results.estimate(label, test.name, share.name)))
    return f"{share.label.capitalize()}: {math.floor(100 * least) / 100:.2f}{share.unit} or more."


class _Answer:
    """What came out of one metric of one test."""

    def __init__(self, results: Results, test: Test, metric: Metric) -> None:
        self.results = results
        self.test = test
        self.metric = metric
        measured = [label for label in results.labels_in(test.name) if label != results.twin]
        labels = [label for label in measured if _sound(results.standings[label, test.name])]
        unranked = [label for label in measured if label not in labels]
        self.unranked = _unranked(results, test, unranked)
        self.all_overloaded = all(results.standings[label, test.name].overload for label in unranked)
        self.figures = {
            label: estimate for label in labels if (estimate := results.estimate(label, test.name, metric.name))
        }
        self.known = list(self.figures)
        self.front = ""  # who is, in the fewest words; sentences() says it
        self.left_out = _left_out(results, test, metric, labels)

    def sentences(self) -> tuple[str, str]:
        """Who is first, who is in front, or why that cannot be said: in brief, and with what is known of the rest."""
        if len(self.known) == 1:
            return (f"{self._listed(self.known)}.",) * 2
        standings = {label: standing for label in self.known if (standing := self._standing(label))}
        if len(standings) < len(self.known):
            return (f"Not every setup can be compared with {self.results.baseline}: {self._listed(self.known)}.",) * 2
        behind = {
            one.label
            for one, other in itertools.permutations(standings.values(), 2)
            if self._between(one, other) is Verdict.SLOWER
        }
        ahead = [label for label in self.known if label not in behind]
        if len(ahead) == 1:
            self.front = f"{ahead[0]} in front"
            return self._one_first(standings, ahead[0], self._among())
        return self._several_in_front(standings, ahead, self._among())

    def _among(self) -> str:
        """Among whom somebody is first, where that is not among all."""
        if self.unranked:
            holding = self.all_overloaded and not self.left_out
            return " of those that hold it" if holding else " of those that are ranked"
        return " of those with a figure" if self.left_out else ""

    def _one_first(self, standings: dict[str, _Standing], first: str, among: str) -> tuple[str, str]:
        others = [label for label in self.known if label != first]
        figure = self._listed([first]).removeprefix(f"{first} ")
        margin = self._margin(standings[first], [standings[label] for label in others])
        if among:
            # What is known of every other is known of those with a figure alone.
            margin = margin.replace("every other", "every other of them", 1)
        brief = f"{first} {self.metric.as_question.first}{among}, {figure}{margin}."
        return brief, f"{brief} {self._rest(others)}"

    def _several_in_front(self, standings: dict[str, _Standing], ahead: list[str], among: str) -> tuple[str, str]:
        alike = self._alike([standings[label] for label in ahead])
        delta = self.results.study.delta
        within = f"alike within ±{delta:.0%}" if alike else f"told apart by {self._blocks(ahead)}"
        rest = [label for label in self.known if label not in ahead]
        apart = within if alike else "not told apart"
        who = f"{len(ahead)} of {len(self.known)}" if len(ahead) > NAMED else series(ahead)
        self.front = f"{who} in front, {apart}," if rest or self._among() else f"all {apart}"
        if not rest:
            figures = self._listed(self.known).removeprefix(series(self.known)).removeprefix(", ")
            return (f"{'All are' if alike else 'No two are'} {within}: {figures}.",) * 2
        within = within if alike else f"not {within}"
        front = self._front(ahead, rest)
        several = f"{len(ahead)} of {len(self.known)}, {self._range(ahead)}" if len(ahead) > NAMED else front
        return (
            f"In front{among}, {within}: {several}.",
            f"In front{among}, {within}: {front}. {self._rest(rest)}",
        )

    def _standing(self, label: str) -> _Standing | None:
        if label == self.results.baseline:
            return _Standing(label)
        one = self.results.comparisons.get((label, self.test.name, self.metric.name))
        return _Standing(label, one.low, one.ratio, one.high) if one else None

    def _between(self, one: _Standing, other: _Standing) -> Verdict:
        """The verdict on one against the other; noise is no difference."""
        low = one.low / other.high
        high = one.high / other.low if other.low > 0 else float("inf")
        outcome = verdict(low, high, self.results.study.delta, self.metric.more_is_better)
        floor = self.results.floors.get((self.test.name, self.metric.name))
        differ = outcome in (Verdict.FASTER, Verdict.SLOWER)
        if differ and floor is not None and floor.holds(one.ratio / other.ratio):
            return Verdict.INCONCLUSIVE
        return outcome

    def _alike(self, standings: list[_Standing]) -> bool:
        return all(
            self._between(one, other) is Verdict.EQUIVALENT for one, other in itertools.combinations(standings, 2)
        )

    def _margin(self, first: _Standing, others: list[_Standing]) -> str:
        """How far the first is ahead of all others at the least: the end of the interval that is nearest to it."""
        if self.metric.more_is_better:
            nearest = math.ceil(100 * max(other.high for other in others) / first.low) / 100
        else:
            nearest = math.floor(100 * min(other.low for other in others) / first.high) / 100
        return "" if nearest == 1 else f"; {self.metric.as_question.others.format(f'{nearest:.2f}')}"

    def _blocks(self, labels: list[str]) -> str:
        """On how many blocks the comparisons of these stand."""
        comparisons = [self.results.comparisons.get((label, self.test.name, self.metric.name)) for label in labels]
        return span([one.blocks for one in comparisons if one] or [self.results.blocks], "block")

    def _listed(self, labels: list[str]) -> str:
        """``gunicorn 2.07 and uvicorn 3.11 ms``; a range where they are many."""
        if len(labels) > NAMED:
            return f"{series(labels)}, {self._range(labels)}"
        told = [f"{label} {figure(self.figures[label])}" for label in labels]
        return f"{series(told)} {self.metric.unit}".rstrip()

    def _front(self, ahead: list[str], rest: list[str]) -> str:
        """Who is in front; where those are many and the rest are few, by naming the rest."""
        listed = self._listed(ahead)
        if len(rest) > NAMED or len(ahead) <= NAMED:
            return listed
        return listed.replace(series(ahead), f"all but {series(rest)}", 1)

    def _rest(self, labels: list[str]) -> str:
        """``The rest: 3.11 to 87.1 ms.``"""
        return f"{self._listed(labels)}." if len(labels) == 1 else f"The rest: {self._range(labels)}."

    def _range(self, labels: list[str]) -> str:
        """``3.11 to 87.1 ms``; one figure where both ends read alike."""
        least, most = (end((self.figures[label] for label in labels), key=attrgetter("value")) for end in (min, max))
        ends = dict.fromkeys((number(least.value), figure(most)))
        return f"{' to '.join(ends)} {self.metric.unit}".rstrip()


def condition(results: Results, test: Test) -> str:
    """``at 300 requests/s``, with the path and the engine where the study has several."""
    several = len({other.short_description for other in results.tests}) > 1
    path = f" for {test.short_description.removeprefix('GET ')}" if several else ""
    return f"{test.condition}{path}{by_engine(results, test)}"


def _sound(found: Standing) -> bool:
    return not found.trouble


def _unranked(results: Results, test: Test, labels: list[str]) -> str:
    """Who is not ranked, because they did not do what they were asked, and how much of it failed."""
    told = [f"{label} ({_share(results.standings[label, test.name])})" for label in labels]
    return f" Not ranked: {series(told)}." if told else ""


def _share(found: Standing) -> str:
    """How much failed of what it was asked, or was lost."""
    return series(found.told("its")) or f"{found.failed:.2%} of its {found.what} failed"


def _left_out(results: Results, test: Test, metric: Metric, labels: list[str]) -> str:
    """Who is not in the answer, and who only in part: a capacity beyond the generator's could be the highest."""
    if test.search is None or metric is not test.decisive:
        missing = [label for label in labels if not results.estimate(label, test.name, metric.name)]
        return f" Without a figure: {series(missing)}." if missing else ""
    told = []
    for label in labels:
        trials = results.cells[label, test.name].valid
        unsettled = [why for trial in trials if (why := test.why_unknown(trial))]
        if not trials:
            told.append(f"{label}: no valid trial")
        elif unsettled:
            share = f" in {len(unsettled)} of {plural(len(trials), 'block')}" if len(unsettled) < len(trials) else ""
            told.append(f"{label}{share}: {unsettled[-1]}")
    return f" Not found: {'; '.join(told)}." if told else ""
