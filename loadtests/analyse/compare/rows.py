"""Represent the result of a comparison: rows, other differences between the runs, and whether a build fails."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

from loadtests.analyse.compare.differences import RunDifference
from loadtests.analyse.compare.within import Comparison, Estimate
from loadtests.analyse.trimmed import SAME
from loadtests.analyse.verdicts import Verdict
from loadtests.errors import UserError
from loadtests.formatting import bounded_ratio, series
from loadtests.plan.kinds import metric

RULE = re.compile(r"\s*(slower|failures)\s*(?:>\s*(\d+(?:\.\d+)?)\s*%)?\s*")


@dataclasses.dataclass(frozen=True)
class Rule:
    """A ``--fail-if`` rule such as ``slower>5%`` or ``failures>1%``, which makes a comparison fail a build.

    A comparison breaks the rule if its change or its share of failures is above ``threshold`` (0.05 is 5%).
    """

    of_failures: bool
    threshold: float

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Parse the value of ``--fail-if``.

        Raises:
            UserError: If the rule isn't valid.
        """
        match = RULE.fullmatch(text)
        if match is None:
            raise UserError(f"--fail-if: {text!r} is not a rule. Write, for example, 'slower>5%' or 'failures>1%'")
        return cls(match[1] == "failures", float(match[2] or 0) / 100)

    def __str__(self) -> str:
        limit = f"more than {self.threshold * 100:.4g}%"
        return f"{limit} failed" if self.of_failures else f"slower by {limit}"

    def is_broken_by(self, one: Comparison) -> bool:
        """Return whether the change is significant and above the threshold.

        A setup that fails, loses messages or can't sustain the rate counts as slower, even if the threshold is high.
        Noise breaks the rule in at most 5% of all runs, however many comparisons there are.
        """
        standing = one.candidate_standing
        if self.of_failures:
            return standing.worst > self.threshold
        change = 1 - one.ratio if metric(one.metric).more_is_better else one.ratio - 1
        slower = one.verdict is Verdict.SLOWER and change > self.threshold + SAME
        return slower or standing.fails or standing.overload is not None


@dataclasses.dataclass(frozen=True)
class ComparisonRow:
    """A setup's values on both sides, in one test and metric. ``missing`` states why they can't be compared."""

    label: str
    test: str
    metric: str
    name: str
    before: Estimate | None
    after: Estimate | None
    comparison: Comparison | None
    missing: str = ""

    def __str__(self) -> str:
        return f"{self.label} in {self.test}, {self.name}"


@dataclasses.dataclass(frozen=True)
class Compared:
    """Two sides and their comparisons. ``left_out`` describes the setups and tests that couldn't be compared."""

    before: str
    after: str
    delta: float
    rows: list[ComparisonRow]
    differences: list[RunDifference] = dataclasses.field(default_factory=list)
    one_machine: bool = True
    left_out: list[str] = dataclasses.field(default_factory=list)
    rule: Rule | None = None

    @property
    def comparisons(self) -> list[Comparison]:
        return [row.comparison for row in self.rows if row.comparison is not None]

    @property
    def failure(self) -> str:
        """The reason why ``--fail-if`` fails, or an empty string. A rule that can't be checked also fails."""
        if self.rule is None:
            return ""
        reasons = dict.fromkeys(filter(None, map(self.broken_by, self.rows)))
        if reasons:
            return f"{self.rule}: {'; '.join(reasons)}"
        unjudged = [f"{row}: {row.missing}" for row in self.rows if row.comparison is None]
        return f"--fail-if can't be checked: {'; '.join(unjudged)}" if unjudged else ""

    def broken_by(self, row: ComparisonRow) -> str:
        """Describe how a row breaks the ``--fail-if`` rule, or return an empty string."""
        one = row.comparison
        if not self.rule or not one or not self.rule.is_broken_by(one):
            return ""
        standing = one.candidate_standing
        if standing.overload and not self.rule.of_failures:
            return f"{row.label} in {row.test} {standing.overload}"
        if standing.fails or self.rule.of_failures:
            shares = standing.failure_shares("the", with_allowed=self.rule.of_failures)
            return f"{row.label} in {row.test}, {series(shares)}"
        return f"{row} {bounded_ratio(one)}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints. Open ends of intervals are null."""
        return {
            "before": self.before,
            "after": self.after,
            "delta": self.delta,
            "same_machine": self.one_machine,
            "differences": [dataclasses.asdict(one) for one in self.differences],
            "left_out": self.left_out,
            "comparisons": [_to_json(row) for row in self.rows],
            "failure": self.failure or None,
        }


def _to_json(row: ComparisonRow) -> dict[str, Any]:
    one = row.comparison
    return {
        "setup": row.label,
        "test": row.test,
        "metric": row.metric,
        "before": _bounded(row.before.value, row.before) if row.before else None,
        "after": _bounded(row.after.value, row.after) if row.after else None,
        "ratio": _bounded(one.ratio, one) if one else None,
        "verdict": one.verdict.value if one else None,
        "failed": {"before": one.baseline_standing.failed, "after": one.candidate_standing.failed} if one else None,
        "lost": {"before": one.baseline_standing.lost, "after": one.candidate_standing.lost} if one else None,
        "sustains": one.candidate_standing.overload.sustains if one and one.candidate_standing.overload else None,
        "inside_noise": one.inside_noise if one else None,
        "blocks": one.blocks if one else 0,
        "family": one.family if one else None,
        "missing": row.missing or None,
    }


def _bounded(value: float, interval: Estimate | Comparison) -> dict[str, float | None]:
    return {
        "value": value if math.isfinite(value) else None,
        "low": interval.low if interval.low > 0 else None,
        "high": interval.high if math.isfinite(interval.high) else None,
    }
