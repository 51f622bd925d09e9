"""One run against another, or one setup of a run against the others: what ``compare`` prints."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from loadtests.analyse import fail_if
from loadtests.analyse.compare import Comparison, Estimate, compare
from loadtests.analyse.observations import Observation
from loadtests.analyse.runs import compare_runs
from loadtests.errors import UserError, unknown
from loadtests.report import metrics, verdicts
from loadtests.report.differences import Difference, differences, same_machine, same_test
from loadtests.report.table import Results
from loadtests.report.wording import plural, ratio, series
from loadtests.store import Run


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
            return f"{self.rule.verdict.value} by more than {self.rule.threshold:.4g}: {series(told)}"
        unknown_ = [f"{_told(row)}: {row.missing}" for row in self.rows if row.found is None]
        return f"--fail-if cannot be judged: {'; '.join(unknown_)}" if unknown_ else ""

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


def of(run: Path, other: Path | None = None, setups: str = "", rule: str = "") -> Compared:
    """Compares ``run`` with ``other`` or, without it, its setups with each other, the first being the baseline.

    ``setups`` are labels with commas between; all that both runs have where it is empty. ``rule`` is that of
    ``--fail-if``. Raises UserError for what does not exist and where nothing can be compared.
    """
    labels = [label.strip() for label in setups.split(",") if label.strip()]
    try:
        parsed = fail_if.parse(rule) if rule else None
    except ValueError as error:
        raise UserError(str(error)) from None
    first = Run.open(run)
    if other is None:
        found = _within(Results(first), labels, first.path.name)
    else:
        found = _between(first, Run.open(other), labels)
    return dataclasses.replace(found, rule=parsed)


def _within(results: Results, labels: list[str], name: str) -> Compared:
    """Setups of one run, paired by block."""
    if len(set(labels)) < 2 or len(set(labels)) < len(labels):
        raise UserError("name a second run, or two setups or more of this one: --setups gunicorn,daphne")
    _require(labels, results, name)
    baseline, *candidates = labels
    twin = results.twin if baseline == results.baseline and results.twin not in labels else None
    wanted = [one for one in judged(results) if one.label in (*labels, twin)]
    delta = results.study["delta"]
    found = {(one.candidate, one.test, one.metric): one for one in compare(wanted, baseline, delta, twin)}
    rows = [
        row
        for test, metric in _asked(results)
        for label in candidates
        if (row := _row((results, baseline), (results, label), (baseline, label), test, metric, found)) is not None
    ]
    return Compared(baseline, " and ".join(candidates), delta, _some(rows))


def _between(first: Run, second: Run, labels: list[str]) -> Compared:
    """The same setups of two runs; their blocks are no pairs."""
    before, after = Results(first), Results(second)
    _require(labels, before, first.path.name)
    _require(labels, after, second.path.name)
    common = [label for label in labels or before.labels if label in after.labels]
    if not common:
        raise UserError(
            f"the runs have no setup in common: {', '.join(before.labels)} against {', '.join(after.labels)}"
        )
    tests = {test["name"]: test for test in after.tests}
    differ = [test["name"] for test in before.tests if not same_test(test, tests.get(test["name"], {}))]
    left_out = [f"{name} asks something else in the two runs, or is in one only" for name in differ]
    if len(differ) == len(before.tests):
        raise UserError(f"the runs have no test in common: {'; '.join(left_out)}")
    if not labels:
        alone = [label for label in (*before.labels, *after.labels) if label not in common]
        left_out += [f"{label} is in one of the runs only" for label in alone]
    delta = before.study["delta"]
    samples = [
        [one for one in judged(results) if one.label in common and one.test not in differ] for results in (before, after)
    ]
    found = {(one.candidate, one.test, one.metric): one for one in compare_runs(*samples, delta=delta)}
    rows = [
        row
        for test, metric in _asked(before)
        if test not in differ
        for label in common
        if (row := _row((before, label), (after, label), ("A", "B"), test, metric, found)) is not None
    ]
    return Compared(
        before=_name(first, second),
        after=_name(second, first),
        delta=delta,
        rows=_some(rows),
        differences=differences(first.about, second.about),
        one_machine=same_machine(first.about, second.about),
        left_out=left_out,
    )


def judged(results: Results) -> list[Observation]:
    """The figures that verdicts are given on."""
    asked = set(_asked(results))
    return [one for one in results.observations if (one.test, one.metric) in asked]


def _asked(results: Results) -> list[tuple[str, str]]:
    return [(test["name"], metric) for test in results.tests for metric in metrics.judged(test["kind"])]


def _require(labels: list[str], results: Results, run: str) -> None:
    for label in labels:
        if label not in results.labels:
            raise unknown(f"setup of {run}", label, results.labels)


def _name(run: Run, other: Run) -> str:
    return str(run.path) if run.path.name == other.path.name else run.path.name


def _some(rows: list[Row]) -> list[Row]:
    if not any(row.found for row in rows):
        raise UserError("nothing can be compared: no setup has valid trials of one test on both sides")
    return rows


Side = tuple[Results, str]


def _row(
    before: Side,
    after: Side,
    names: tuple[str, str],
    test: str,
    metric: str,
    found: dict[tuple[str, str, str], Comparison],
) -> Row | None:
    """The row of a test and metric; None where neither side can know the metric."""
    known = [results.estimate(label, test, metric) for results, label in (before, after)]
    one = found.get((after[1], test, metric))
    missing = ""
    if one is None or not one.blocks:
        one = None
        sides = list(zip((before, after), names, known, strict=True))
        no_trial = [name for (results, label), name, _ in sides if not results.cells[label, test].valid]
        if no_trial:
            missing = f"no valid trial in {series(no_trial)}"
        elif not any(known):
            return None
        else:
            missing = f"not known in {series([name for _, name, value in sides if value is None])}"
            missing = "no block has both" if all(known) else missing
    name = verdicts.name(after[0], test, metric)
    return Row(after[1], test, metric, name, known[0], known[1], one, missing)


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
