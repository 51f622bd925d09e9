"""Tests that ask the same at more and more load: the steps of a curve."""

from __future__ import annotations

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import LoadStep

LEAST_STEPS = 3  # that make a curve

LoadCurve = list[tuple[LoadStep, Test]]


def curve(results: Results, test: Test) -> LoadCurve:
    """The tests that differ from this one by their load alone, this among them, from the least load to the most; none
    where they are too few."""
    if (own := test.load_step) is None:
        return []
    steps = [(step, one) for one in results.tests if (step := one.load_step) and _like(step, own)]
    enough = len({step.value for step, _ in steps}) >= LEAST_STEPS
    return sorted(steps, key=lambda one: one[0].value) if enough else []


def between(results: Results, test: Test) -> bool:
    """Whether it is a step between others."""
    steps = [one for _, one in curve(results, test)]
    return test in steps[1:-1]


def _like(step: LoadStep, other: LoadStep) -> bool:
    return (step.axis, step.comparison_key) == (other.axis, other.comparison_key)
