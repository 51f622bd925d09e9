"""Compare two runs, or the setups of one run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from loadtests.analyse.compare import fail_if
from loadtests.analyse.compare.between import compare_runs
from loadtests.analyse.compare.differences import differences, same_machine
from loadtests.analyse.compare.rows import Compared, ComparisonRow
from loadtests.analyse.compare.within import Comparison, Estimate
from loadtests.analyse.observations import Observation
from loadtests.analyse.results import Results
from loadtests.errors import UserError, unknown
from loadtests.formatting import series
from loadtests.plan.kinds import Test
from loadtests.records.run.folder import Run


def compare_sides(run: Path, other: Path | None = None, setups: str = "", rule: str | None = None) -> Compared:
    """Compare two runs, or if ``other`` is None, compare setups of ``run`` with each other.

    Args:
        run: The run folder.
        other: The folder of the second run.
        setups: Labels separated by commas. Within one run, the first label is the baseline. The default for two runs is
            all setups that both runs contain. The default for one run is the study's pairs, or if the study has no
            pairs, each variant compared with the baseline.
        rule: The value of ``--fail-if``.

    Raises:
        UserError: If a label doesn't exist, the rule isn't valid, or nothing can be compared.
    """
    labels = [label.strip() for label in setups.split(",") if label.strip()]
    try:
        parsed = None if rule is None else fail_if.parse(rule)
    except ValueError as error:
        raise UserError(str(error)) from None
    first = Run.open(run)
    if other is None:
        compared = _within(Results(first), labels, first.path.name)
    else:
        compared = _between(first, Run.open(other), labels)
    return dataclasses.replace(compared, rule=parsed)


def _within(results: Results, labels: list[str], run: str) -> Compared:
    """Compare setups of one run, paired by block.

    Without ``labels``, compare the study's pairs. If the study has no pairs, compare its variants with the baseline.
    """
    in_pairs = [(against, label) for label, against in results.own_baselines.items()] or _variants(results)
    named = [(labels[0], label) for label in labels[1:]] if labels else in_pairs
    if not named or len(set(labels)) < len(labels):
        raise UserError(
            "nothing can be compared. Name a second run, or at least two setups of this run: --setups gunicorn,daphne"
        )
    _require(labels, results, run)
    delta = results.study.delta
    comparisons = results.compared(named, results.judged)
    baselines = dict.fromkeys(baseline for baseline, _ in named)
    pairs = [(_Side(results, before, before), _Side(results, after, after)) for before, after in named]
    after = " and ".join(label for _, label in named)
    return Compared(" and ".join(baselines), after, delta, _rows(pairs, judged_cells(results), comparisons))


def _variants(results: Results) -> list[tuple[str, str]]:
    """Return the pair (baseline, variant) for each variant."""
    return [(results.baseline, entry.label) for entry in results.study.entries if entry.variant]


def _between(first: Run, second: Run, labels: list[str]) -> Compared:
    """Compare the setups that two runs have in common."""
    before, after = Results(first), Results(second)
    _require(labels, before, first.path.name)
    _require(labels, after, second.path.name)
    common = [label for label in labels or _without_copy(before) if label in after.labels]
    if not common:
        there = " against ".join(", ".join(results.labels) for results in (before, after))
        raise UserError(f"the runs have no setup in common: {there}")
    alike = same_tests(before, after)
    if not alike:
        there = " against ".join(", ".join(map(_test, results.tests)) for results in (before, after))
        raise UserError(f"the runs have no test in common: {there}")
    delta = before.study.delta
    standings = before.standings, after.standings
    comparisons = compare_runs(_shared(before, common, alike), _shared(after, common, alike), delta, standings)
    cells = [(test, metric) for test, metric in judged_cells(before) if test in alike]
    pairs = [(_Side(before, label, "A"), _Side(after, label, "B")) for label in common]
    return Compared(
        before=_name(first, second),
        after=_name(second, first),
        delta=delta,
        rows=_rows(pairs, cells, comparisons),
        differences=differences(first.record, second.record),
        one_machine=same_machine(first.record, second.record),
        left_out=_left_out(before, after, alike),
    )


def same_tests(before: Results, after: Results) -> list[str]:
    tests = {test.name: test for test in after.tests}
    return [test.name for test in before.tests if test.name in tests and test.same_as(tests[test.name])]


def judged_cells(results: Results) -> list[tuple[str, str]]:
    return [(test.name, metric.name) for test in results.tests for metric in test.judged]


def _shared(results: Results, labels: list[str], tests: list[str]) -> list[Observation]:
    return [one for one in results.judged if one.label in labels and one.test in tests]


def _rates(before: Results, after: Results, test: str) -> str:
    """Describe a test's rates if they differ, because each of the two runs may have determined its own rate."""
    tests = [one for results in (before, after) for one in results.tests if one.name == test]
    found = [one.fixed_rate for one in tests]
    if len(found) < 2 or None in found or found[0] == found[1]:
        return ""
    return (
        f" (at {found[0]:g} and {found[1]:g} {tests[0].kind.load_unit}s/s; repeat the second run with "
        f"--rate {found[0]:g})"
    )


def _without_copy(results: Results) -> list[str]:
    return [label for label in results.labels if label != results.aa_copy]


def _left_out(before: Results, after: Results, alike: list[str]) -> list[str]:
    """Describe the setups that only one run contains, and the tests that differ between the runs."""
    labels = dict.fromkeys([*_without_copy(before), *_without_copy(after)])
    alone = [label for label in labels if not (label in before.labels and label in after.labels)]
    names = dict.fromkeys(test.name for results in (before, after) for test in results.tests)
    differ = [name for name in names if name not in alike]
    return [f"setup {label}: only in one of the runs" for label in alone] + [
        f"test {name}: not the same in both runs{_rates(before, after, name)}" for name in differ
    ]


def _require(labels: list[str], results: Results, run: str) -> None:
    for label in labels:
        if label not in results.labels:
            raise unknown(f"setup in {run}", label, results.labels)


def _test(test: Test) -> str:
    return f"{test.name} ({test.description}, {test.engine})"


def _name(run: Run, other: Run) -> str:
    return str(run.path) if run.path.name == other.path.name else run.path.name


@dataclasses.dataclass(frozen=True)
class _Side:
    """A setup in a run, as one side of a comparison. Messages refer to the side by its ``name``."""

    results: Results
    label: str
    name: str


def _rows(
    pairs: list[tuple[_Side, _Side]], cells: list[tuple[str, str]], comparisons: list[Comparison]
) -> list[ComparisonRow]:
    """Return a row for each pair of setups in each test and metric that either side contains.

    Raises:
        UserError: If no row contains a comparison.
    """
    by_key = {(one.candidate, one.test, one.metric): one for one in comparisons if one.informative}
    rows = []
    for test, metric in cells:
        for before, after in pairs:
            if not any(side.label in side.results.labels_in(test) for side in (before, after)):
                continue  # both sides leave the setup out of the test
            known = [side.results.estimate(side.label, test, metric) for side in (before, after)]
            one = by_key.get((after.label, test, metric))
            missing = "" if one else _missing((before, after), test, known)
            if one or missing:
                name = after.results.called(test, metric)
                rows.append(ComparisonRow(after.label, test, metric, name, known[0], known[1], one, missing))
    if not any(row.comparison for row in rows):
        raise UserError("nothing can be compared: no metric has a value on both sides")
    return rows


def _missing(sides: tuple[_Side, _Side], test: str, known: list[Estimate | None]) -> str:
    """Return the reason why there is no comparison, or an empty string if neither side contains the metric."""
    out = [side.name for side in sides if side.label not in side.results.labels_in(test)]
    if out:
        return f"left out in {series(out)}"
    without = [side.name for side in sides if not side.results.cells[side.label, test].valid]
    if without:
        return f"no valid trial in {series(without)}"
    if all(known):
        return "no block has a value on both sides"
    unknown_in = [side.name for side, estimate in zip(sides, known, strict=True) if estimate is None]
    return f"not known in {unknown_in[0]}" if len(unknown_in) == 1 else ""
