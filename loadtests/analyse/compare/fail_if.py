"""``--fail-if 'slower>5%'`` or ``'failures>1%'``: the rule by which a comparison fails a build."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.trimmed import SAME
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds import metric

RULE = re.compile(r"\s*(slower|faster|failures)\s*(?:>\s*(\d+(?:\.\d+)?)\s*%)?\s*")


@dataclass(frozen=True)
class Rule:
    """``verdict`` by more than ``threshold`` (0.05 is 5%); where it is None, that share of requests that failed, of
    deliveries that are missing, or of connections that were refused or lost."""

    verdict: Verdict | None
    threshold: float

    def __str__(self) -> str:
        if self.verdict is None:
            return f"more than {self.threshold * 100:.4g}% failed"
        return f"{self.verdict.value} by more than {self.threshold * 100:.4g}%"


def parse(text: str) -> Rule:
    """The rule in ``text``: slower, faster or failures, and more than how many percent.

    Raises ValueError with what is allowed.
    """
    match = RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if {text!r} is not a rule; write for example 'slower>5%' or 'failures>1%'")
    return Rule(None if match[1] == "failures" else Verdict(match[1]), float(match[2] or 0) / 100)


def failures(rule: Rule, comparisons: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons that break the rule: the verdict is sure, and the ratio is beyond the threshold.

    A setup that fails requests, loses deliveries or connections, or cannot hold the rate is slower by any threshold:
    those never came back.

    Noise alone fails a build in at most 5% of all runs, however many comparisons it holds. A slowdown that is
    there but not yet sure does not fail it: more blocks find it.
    """
    return [one for one in comparisons if _breaks(rule, one)]


def _breaks(rule: Rule, one: Comparison) -> bool:
    if rule.verdict is None:
        return one.of_candidate.worst > rule.threshold
    if rule.verdict is Verdict.SLOWER and (one.of_candidate.fails or one.of_candidate.overload):
        return True
    return one.verdict is rule.verdict and _change(one) > rule.threshold + SAME


def _change(one: Comparison) -> float:
    """How far the ratio is from 1 in the verdict's direction: half the throughput is 50% slower."""
    upwards = metric(one.metric).more_is_better == (one.verdict is Verdict.FASTER)
    return one.ratio - 1 if upwards else 1 - one.ratio
