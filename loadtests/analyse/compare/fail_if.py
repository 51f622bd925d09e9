"""``--fail-if 'slower>5%'``: the rule by which a comparison fails a build."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.trimmed import SAME
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds import metric

RULE = re.compile(r"\s*(slower|faster)\s*(?:>\s*(\d+(?:\.\d+)?)\s*%)?\s*")


@dataclass(frozen=True)
class Rule:
    """``verdict`` by more than ``threshold`` (0.05 is 5%)."""

    verdict: Verdict
    threshold: float


def parse(text: str) -> Rule:
    """The rule in ``text``: slower or faster, and by how many percent. Raises ValueError with what is allowed."""
    match = RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if {text!r} is not a rule; write for example 'slower>5%' or 'slower'")
    return Rule(Verdict(match[1]), float(match[2] or 0) / 100)


def failures(rule: Rule, comparisons: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons that break the rule: the verdict is sure, and the median ratio is beyond the threshold.

    Noise alone fails a build in at most 5% of all runs, however many comparisons it holds. A slowdown that is
    there but not yet sure does not fail it: more blocks find it.
    """
    return [one for one in comparisons if one.verdict is rule.verdict and _change(one) > rule.threshold + SAME]


def _change(one: Comparison) -> float:
    """How far the ratio is from 1 in the verdict's direction: half the throughput is 50% slower."""
    upwards = metric(one.metric).more_is_better == (one.verdict is Verdict.FASTER)
    return one.ratio - 1 if upwards else 1 - one.ratio
