"""Represent the result of a comparison: rows, other differences between the runs, and whether a build fails."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from loadtests.analyse.compare import fail_if
from loadtests.analyse.compare.differences import RunDifference
from loadtests.analyse.compare.within import Comparison, Estimate
from loadtests.formatting import bounded_ratio, series


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
    rule: fail_if.Rule | None = None

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
        unjudged = [f"{_name(row)}: {row.missing}" for row in self.rows if row.comparison is None]
        return f"--fail-if can't be checked: {'; '.join(unjudged)}" if unjudged else ""

    def broken_by(self, row: ComparisonRow) -> str:
        """Describe how a row breaks the ``--fail-if`` rule, or return an empty string."""
        one = row.comparison
        return _why(self.rule, row, one) if self.rule and one and fail_if.failures(self.rule, [one]) else ""

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


def _why(rule: fail_if.Rule, row: ComparisonRow, broken: Comparison) -> str:
    standing = broken.candidate_standing
    if standing.overload and rule.verdict is not None:
        return f"{row.label} in {row.test} {standing.overload}"
    if standing.fails or rule.verdict is None:
        return f"{row.label} in {row.test}, {series(standing.failure_shares('the', rule.verdict is None))}"
    return f"{_name(row)} {bounded_ratio(broken)}"


def _name(row: ComparisonRow) -> str:
    return f"{row.label} in {row.test}, {row.name}"


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
