"""What a comparison found: its rows, what else differs, and whether it fails a build."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from loadtests.analyse.compare import fail_if
from loadtests.analyse.compare.differences import Difference
from loadtests.analyse.compare.within import Comparison, Estimate
from loadtests.report.words import ratio


@dataclasses.dataclass(frozen=True)
class Row:
    """One setup in one test and metric, on both sides. ``missing`` says why there is no comparison."""

    label: str
    test: str
    metric: str
    name: str
    before: Estimate | None
    after: Estimate | None
    found: Comparison | None
    missing: str = ""


@dataclasses.dataclass(frozen=True)
class Compared:
    """Two sides and all that was compared. ``left_out`` are sentences about what could not be."""

    before: str
    after: str
    delta: float
    rows: list[Row]
    differences: list[Difference] = dataclasses.field(default_factory=list)
    one_machine: bool = True
    left_out: list[str] = dataclasses.field(default_factory=list)
    rule: fail_if.Rule | None = None

    @property
    def comparisons(self) -> list[Comparison]:
        """Those that there are."""
        return [row.found for row in self.rows if row.found is not None]

    @property
    def failure(self) -> str:
        """Why ``--fail-if`` fails, in a line; empty where it does not. What cannot be judged fails as well."""
        if self.rule is None:
            return ""
        broken = fail_if.failures(self.rule, self.comparisons)
        told = [f"{_told(row)} {ratio(row.found.ratio)}" for row in self.rows if row.found and row.found in broken]
        if told:
            return f"{self.rule.verdict.value} by more than {self.rule.threshold * 100:.4g}%: {'; '.join(told)}"
        unjudged = [f"{_told(row)}: {row.missing}" for row in self.rows if row.found is None]
        return f"--fail-if cannot be judged: {'; '.join(unjudged)}" if unjudged else ""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints; an end of an interval that is not known is null."""
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


def _told(row: Row) -> str:
    return f"{row.label} in {row.test}, {row.name}"


def _to_json(row: Row) -> dict[str, Any]:
    found = row.found
    return {
        "setup": row.label,
        "test": row.test,
        "metric": row.metric,
        "before": _bounded(row.before.median, row.before) if row.before else None,
        "after": _bounded(row.after.median, row.after) if row.after else None,
        "ratio": _bounded(found.ratio, found) if found else None,
        "verdict": found.verdict.value if found else None,
        "inside_noise": found.inside_noise if found else None,
        "blocks": found.blocks if found else 0,
        "blocks_needed": found.blocks_needed if found else None,
        "family": found.family if found else None,
        "missing": row.missing or None,
    }


def _bounded(value: float, found: Estimate | Comparison) -> dict[str, float | None]:
    return {
        "value": value,
        "low": found.low if found.low > 0 else None,
        "high": found.high if math.isfinite(found.high) else None,
    }
