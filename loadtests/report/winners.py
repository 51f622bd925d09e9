"""Describe the winners in the middle part of a run's answer, with a sentence for each question."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from loadtests.analyse.results import Results
from loadtests.formatting import series
from loadtests.report.sections import load_curve
from loadtests.report.sections.load_curve import LoadCurve
from loadtests.report.view import Finding


def sentences(results: Results, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the sentences about winners. Certain winners come first. The steps of a load curve share a sentence."""
    return tuple(sentence for _, sentence in sorted(_found(results, findings), key=lambda one: not one[0]))


def first(results: Results, findings: Sequence[Finding]) -> str:
    """Return the sentence about the first question, even if its winner isn't certain, or "" without questions."""
    return next((sentence for _, sentence in _found(results, findings)), "")


def _found(results: Results, findings: Sequence[Finding]) -> list[tuple[bool, str]]:
    """Return a pair for each question: whether the winner is certain, and the sentence about the winner."""
    curves = {test.name: load_curve.curve(results, test) for test in results.tests}
    found: dict[tuple[str, str], tuple[bool, str]] = {}
    for one in findings:
        if not one.brief:
            continue
        curve = curves.get(one.test, []) if one.leaders else []
        if curve:
            alike = {other.test: other for other in findings if other.topic == one.topic and other.leaders}
            found.setdefault((curve[0][1].name, one.topic), _over_load(curve, alike))
        else:
            found[one.question, ""] = (one.certain, f"{one.question}: {one.brief}")
    return list(found.values())


def _over_load(curve: LoadCurve, findings: dict[str, Finding]) -> tuple[bool, str]:
    """Return whether each step of a load curve has a certain winner, and a sentence about the leaders at the steps."""
    steps = [(findings[test.name], step.short_label) for step, test in curve if test.name in findings]
    runs = itertools.groupby(steps, key=lambda one: one[0].leaders)
    leaders = "; ".join(f"{who} at {series([label for _, label in run])}" for who, run in runs)
    return all(one.certain for one, _ in steps), f"{steps[0][0].topic}, over {curve[0][0].axis}: {leaders}."
