"""What a reader in a hurry reads: for each thing asked, who is first as far as that is certain.

A setup is *behind* another where the intervals say so: they hold together for all comparisons with the baseline, so
the ratio of two candidates lies between the quotients of their intervals' ends. Who is behind nobody is first; where
that is more than one, nobody is named first.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict, verdict
from loadtests.plan.metrics import metric as metric_of
from loadtests.report.sections.verdicts import many_blocks
from loadtests.report.view import Finding
from loadtests.report.words import asked, number, plural, series

NAMED = 5  # setups whose figures a sentence lists; of more it gives the range


@dataclasses.dataclass(frozen=True)
class _Question:
    """A metric in a reader's words. ``others`` says what the others do at least or at most, as a ratio to the first."""

    asked: str
    first: str
    others: str
    unit: str


WORDS = {
    "p50_ms": _Question("Typical {latency} (p50)", "is the fastest", "every other takes at least ×{}", "ms"),
    "p99_ms": _Question(
        "{latency} that 1 request in 100 exceeds (p99)", "is the fastest", "every other takes at least ×{}", "ms"
    ),
    metrics.CPU: _Question("CPU time per request", "is the cheapest", "every other costs at least ×{}", "ms"),
    "rps": _Question("Throughput", "answers the most", "every other answers at most ×{}", "requests/s"),
    metrics.CAPACITY: _Question("Capacity", "holds the most", "every other holds at most ×{}", "requests/s"),
}


@dataclasses.dataclass(frozen=True)
class _Place:
    """A setup's ratio to the baseline with its interval; the baseline's own is exactly 1."""

    label: str
    low: float = 1.0
    ratio: float = 1.0
    high: float = 1.0


def findings(results: Results) -> tuple[Finding, ...]:
    """The answers, one for each test and judged metric."""
    return tuple(
        found
        for test in results.tests
        for metric in metrics.judged(test["kind"])
        if (found := _finding(results, test, metric))
    )


def certainty(results: Results) -> str:
    """What "is the fastest" means; empty where nothing is compared."""
    family = max((found.family for found in results.comparisons.values()), default=0)
    if not family or results.blocks < 2:
        return ""
    noise = " and outside the machine's own noise" if results.floors else ""
    return (
        f"Who is named first is so with 95% confidence, in all {plural(family, 'comparison')} of the run at once"
        f"{noise}; what is not certain is not ranked."
    )


def _finding(results: Results, test: dict[str, Any], metric: str) -> Finding | None:
    words = WORDS[metric]
    labels = [label for label in results.labels if label != results.twin]
    known = [label for label in labels if results.estimate(label, test["name"], metric)]
    if not known:
        return None
    latency = results.latency(test["name"])
    asked = words.asked.format(latency=latency)
    left_out = _left_out(results, test, metric, labels)
    if len(known) == 1:
        answer = f"{_listed(results, test, metric, known)}."
    else:
        answer = _judged(results, test, metric, known, " of those with a figure" if left_out else "")
    failed = _failed(results, test) if metric == metrics.judged(test["kind"])[0] else ""
    return Finding(
        f"{asked[0].upper()}{asked[1:]} {_condition(results, test)}",
        f"{answer}{left_out}{failed}",
        certain=f" {words.first}" in answer,
    )


def _judged(results: Results, test: dict[str, Any], metric: str, known: list[str], among: str) -> str:
    places = {label: place for label in known if (place := _place(results, label, test["name"], metric))}
    all_figures = _listed(results, test, metric, known)
    if len(places) < len(known):
        return f"Not every setup can be compared with {results.baseline}: {all_figures}."
    behind = {
        one.label
        for one, other in itertools.permutations(places.values(), 2)
        if _between(results, test["name"], metric, one, other) is Verdict.SLOWER
    }
    ahead = [label for label in known if label not in behind]
    if len(ahead) == 1:
        others = [label for label in known if label != ahead[0]]
        margin = _margin(places[ahead[0]], [places[label] for label in others], metric)
        figure = _listed(results, test, metric, ahead).removeprefix(f"{ahead[0]} ")
        if among:  # what is known of every other is known of these alone
            margin = ""
        return f"{ahead[0]} {WORDS[metric].first}{among}, {figure}{margin}. {_rest(results, test, metric, others)}"
    if _alike(results, test["name"], metric, [places[label] for label in ahead]):
        within = f"alike within ±{results.study['delta']:.0%}"
    else:
        within = "not told apart" + _settled_by(results, test["name"], metric, ahead)
    if not behind:
        return f"All are {within}: {all_figures.removeprefix(series(known)).removeprefix(', ')}."
    rest = [label for label in known if label in behind]
    front = _front(results, test, metric, ahead, rest)
    return f"In front{among}, {within}: {front}. {_rest(results, test, metric, rest)}"


def _place(results: Results, label: str, test: str, metric: str) -> _Place | None:
    if label == results.baseline:
        return _Place(label)
    found = results.comparisons.get((label, test, metric))
    return _Place(label, found.low, found.ratio, found.high) if found else None


def _between(results: Results, test: str, metric: str, one: _Place, other: _Place) -> Verdict:
    """The verdict on one against the other; noise is no difference."""
    low = one.low / other.high
    high = one.high / other.low if other.low > 0 else float("inf")
    found = verdict(low, high, results.study["delta"], metric_of(metric).more_is_better)
    floor = results.floors.get((test, metric))
    if found in (Verdict.FASTER, Verdict.SLOWER) and floor is not None and floor.holds(one.ratio / other.ratio):
        return Verdict.INCONCLUSIVE
    return found


def _alike(results: Results, test: str, metric: str, places: list[_Place]) -> bool:
    return all(
        _between(results, test, metric, one, other) is Verdict.EQUIVALENT
        for one, other in itertools.combinations(places, 2)
    )


def _margin(first: _Place, others: list[_Place], metric: str) -> str:
    """How far the first is ahead of all others at the least: the end of the interval that is nearest to it."""
    if metric_of(metric).more_is_better:
        nearest = math.ceil(100 * max(other.high for other in others) / first.low) / 100
    else:
        nearest = math.floor(100 * min(other.low for other in others) / first.high) / 100
    return "" if nearest == 1 else f"; {WORDS[metric].others.format(f'{nearest:.2f}')}"


def _settled_by(results: Results, test: str, metric: str, ahead: list[str]) -> str:
    """How many blocks would probably tell those in front from the baseline, where that is known."""
    needed = [
        found.blocks_needed
        for label in ahead
        if (found := results.comparisons.get((label, test, metric))) and found.blocks_needed is not None
    ]
    if needed:
        return f" in {plural(results.blocks, 'block')} ({many_blocks(max(needed))} might do it)"
    return f" by {plural(results.blocks, 'block')}"


def _listed(results: Results, test: dict[str, Any], metric: str, labels: list[str]) -> str:
    """``gunicorn 2.07 and uvicorn 3.11 ms``; a range where they are many."""
    unit = WORDS[metric].unit
    figures = [found.median for label in labels if (found := results.estimate(label, test["name"], metric))]
    if len(labels) > NAMED:
        return f"{series(labels)}, {_range(figures)} {unit}"
    told = [f"{label} {number(figure)}" for label, figure in zip(labels, figures, strict=True)]
    return f"{series(told)} {unit}"


def _front(results: Results, test: dict[str, Any], metric: str, ahead: list[str], rest: list[str]) -> str:
    """Who is in front; where those are many and the rest are few, by naming the rest."""
    listed = _listed(results, test, metric, ahead)
    if len(rest) > NAMED or len(ahead) <= NAMED:
        return listed
    return listed.replace(series(ahead), f"all but {series(rest)}", 1)


def _rest(results: Results, test: dict[str, Any], metric: str, labels: list[str]) -> str:
    """``The rest: 3.11 to 87.1 ms.``"""
    figures = [found.median for label in labels if (found := results.estimate(label, test["name"], metric))]
    if len(labels) == 1:
        return f"{_listed(results, test, metric, labels)}."
    return f"The rest: {_range(figures)} {WORDS[metric].unit}."


def _range(figures: list[float]) -> str:
    """``3.11 to 87.1``; once where both ends read alike."""
    return " to ".join(dict.fromkeys((number(min(figures)), number(max(figures)))))


def _condition(results: Results, test: dict[str, Any]) -> str:
    """``at 300 requests/s``, with the path where the study asks for several."""
    path = f" for {asked(test).removeprefix('GET ')}" if len({asked(other) for other in results.tests}) > 1 else ""
    if test["kind"] == "capacity":
        return f"within {test['objective']}{path}"
    if test["rate"] is not None:
        return f"at {test['rate']:g} requests/s{path}"
    return f"with {plural(test['connections'], 'connection')}{path}"


def _failed(results: Results, test: dict[str, Any]) -> str:
    """Who failed how many of the requests: a figure of what was answered says nothing of the rest."""
    told = []
    for label in results.labels:
        share = metrics.failed_share(results.cells[label, test["name"]].valid)
        if label != results.twin and share >= metrics.FAILED:
            told.append(f"{label} {share:.2%}")
    return f" Failed requests: {series(told)}." if told else ""


def _left_out(results: Results, test: dict[str, Any], metric: str, labels: list[str]) -> str:
    """Who is not in the answer, and who only in part: a capacity beyond the generator's could be the highest."""
    if metric != metrics.CAPACITY:
        missing = [label for label in labels if not results.estimate(label, test["name"], metric)]
        return f" Without a figure: {series(missing)}." if missing else ""
    told = []
    for label in labels:
        trials = results.cells[label, test["name"]].valid
        unsettled = [trial for trial in trials if metrics.capacity(trial) is None]
        if not trials:
            told.append(f"{label}: no valid trial")
        elif unsettled:
            share = f" in {len(unsettled)} of {plural(len(trials), 'block')}" if len(unsettled) < len(trials) else ""
            told.append(f"{label}{share}: {(unsettled[-1].capacity or {}).get('sentence', 'not measured')}")
    return f" Not found: {'; '.join(told)}." if told else ""
