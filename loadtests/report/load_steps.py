"""Load curves: tests that differ by their load alone."""

from __future__ import annotations

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import LoadStep

LEAST_STEPS = 3  # of a curve

LoadCurve = list[tuple[LoadStep, Test]]


def curve(results: Results, test: Test) -> LoadCurve:
    """The test's load curve, from the least load to the most; empty where it has too few steps."""
    if (own := test.load_step) is None:
        return []
    alike = (own.axis, own.comparison_key)
    steps = [
        (step, one) for one in results.tests if (step := one.load_step) and (step.axis, step.comparison_key) == alike
    ]
    enough = len({step.value for step, _ in steps}) >= LEAST_STEPS
    return sorted(steps, key=lambda one: one[0].value) if enough else []


def is_inner(results: Results, test: Test) -> bool:
    """Whether it is a step between others."""
    return test in [one for _, one in curve(results, test)][1:-1]
