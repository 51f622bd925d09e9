"""Who is first, in a sentence for each thing asked: the middle of a run's answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadtests.analyse.results import Results
from loadtests.formatting import series
from loadtests.report import load_steps
from loadtests.report.load_steps import LoadCurve
from loadtests.report.view import Finding


def firsts(results: Results, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Who is first, and after that who may be; what is asked at more and more load is told together. Who cannot hold a
    rate is told elsewhere."""
    told = [(one.certain, f"{one.asked}: {one.brief}", one) for one in findings if one.brief]
    of_test = {test.name: load_steps.curve(results, test) for test in results.tests}
    sentences: list[tuple[bool, str]] = []
    done: set[tuple[str, str]] = set()
    for certain, sentence, one in told:
        curve = of_test.get(one.test, []) if one.front else []
        if not curve:
            sentences.append((certain, sentence))
            continue
        first = curve[0][1].name
        if (first, one.about) not in done:
            done.add((first, one.about))
            alike = [other for _, _, other in told if other.about == one.about and other.front]
            sentences.append(_over(curve, alike))
    return tuple(sentence for _, sentence in sorted(sentences, key=lambda one: not one[0]))


def _over(curve: LoadCurve, findings: Sequence[Finding]) -> tuple[bool, str]:
    """Who is in front at which steps of a curve, and whether that is one setup at each of them."""
    by_test = {one.test: one for one in findings}
    steps = [(step.short_label, by_test[test.name]) for step, test in curve if test.name in by_test]
    about = steps[0][1].about
    fronts = "; ".join(f"{front} at {series(at)}" for front, at in _runs([(one.front, at) for at, one in steps]))
    return all(one.certain for _, one in steps), f"{about}, over {curve[0][0].axis}: {fronts}."


def _runs(told: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Who is in front, and at which steps one after the other."""
    found: list[tuple[str, list[str]]] = []
    for front, at in told:
        if found and found[-1][0] == front:
            found[-1][1].append(at)
        else:
            found.append((front, [at]))
    yield from found
