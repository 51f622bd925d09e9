"""Apply ``--fail-if`` rules such as ``slower>5%`` or ``failures>1%``, which make a comparison fail a build."""

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
    """A comparison breaks the rule if it has this ``verdict`` and its change is above ``threshold`` (0.05 is 5%).

    If ``verdict`` is None, the threshold limits the share of failures.
    """

    verdict: Verdict | None
    threshold: float

    def __str__(self) -> str:
        if self.verdict is None:
            return f"more than {self.threshold * 100:.4g}% failed"
        return f"{self.verdict.value} by more than {self.threshold * 100:.4g}%"


def parse(text: str) -> Rule:
    """Parse the value of ``--fail-if``.

    Raises:
        ValueError: If the rule isn't valid.
    """
    match = RULE.fullmatch(text)
    if match is None:
        raise ValueError(f"--fail-if: {text!r} is not a rule. Write, for example, 'slower>5%' or 'failures>1%'")
    return Rule(None if match[1] == "failures" else Verdict(match[1]), float(match[2] or 0) / 100)


def failures(rule: Rule, comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons that break the rule, because their change is significant and above the threshold.

    If a rule forbids slower setups, a setup that fails, loses messages or can't sustain the rate breaks the rule, even
    if the threshold is high. Noise breaks the rule in at most 5% of all runs, however many comparisons there are.
    """
    return [one for one in comparisons if _breaks(rule, one)]


def _breaks(rule: Rule, one: Comparison) -> bool:
    if rule.verdict is None:
        return one.candidate_standing.worst > rule.threshold
    if rule.verdict is Verdict.SLOWER and (one.candidate_standing.fails or one.candidate_standing.overload):
        return True
    return one.verdict is rule.verdict and _change(one) > rule.threshold + SAME


def _change(one: Comparison) -> float:
    """Return the change in the direction of the verdict. For half the throughput, it is 0.5 (50% slower)."""
    upwards = metric(one.metric).more_is_better == (one.verdict is Verdict.FASTER)
    return one.ratio - 1 if upwards else 1 - one.ratio
