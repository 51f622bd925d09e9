"""Compare two runs, or the setups of one run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from loadtests.analyse.compare.between import compare_runs
from loadtests.analyse.compare.differences import differences, same_machine
from loadtests.analyse.compare.rows import Compared, ComparisonRow, Rule
from loadtests.analyse.compare.within import Comparison, Estimate
from loadtests.analyse.results import Results
from loadtests.errors import UserError, unknown
from loadtests.formatting import series
from loadtests.records.run.folder import Run
from loadtests.trials.observations import Observation


@dataclasses.dataclass(frozen=True)
class _Side:
    """A setup in a run, as one side of a comparison. Messages refer to the side by its ``name``."""

    results: Results
    label: str
    name: str


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
    parsed = None if rule is None else Rule.parse(rule)
    first, *second = [Run.open(path) for path in (run, other) if path is not None]
    for one in (first, *second):
        known = [entry.label for entry in one.record.study.entries]
        for label in labels:
            if label not in known:
                raise unknown(f"setup in {one.path.name}", label, known)
    before = Results(first)
    if second:
        compared = _between(before, Results(second[0]), labels, (str(run), str(other)))
    else:
        compared = _within(before, labels)
    if not compared.comparisons:
        raise UserError("nothing can be compared: no metric has a value on both sides")
    return dataclasses.replace(compared, rule=parsed)


def _within(results: Results, labels: list[str]) -> Compared:
    """Compare setups of one run, paired by block."""
    named = [(labels[0], label) for label in labels[1:]]
    if not labels:
        variants = [(results.baseline, entry.label) for entry in results.study.entries if entry.variant]
        named = [(against, label) for label, against in results.own_baselines.items()] or variants
    if not named or len(set(labels)) < len(labels):
        raise UserError(
            "nothing can be compared. Name a second run, or at least two setups of this run: --setups gunicorn,daphne"
        )
    comparisons = results.compared(named, results.judged)
    pairs = [(_Side(results, before, before), _Side(results, after, after)) for before, after in named]
    before = " and ".join(dict.fromkeys(baseline for baseline, _ in named))
    after = " and ".join(label for _, label in named)
    return Compared(before, after, results.study.delta, _rows(pairs, _cells(results), comparisons))


def _between(before: Results, after: Results, labels: list[str], names: tuple[str, str]) -> Compared:
    """Compare the setups and tests that two runs have in common."""
    own = {label: None for one in (before, after) for label in one.labels if label != one.aa_copy}
    common = [label for label in dict.fromkeys(labels or own) if label in before.labels and label in after.labels]
    tests = {test.name: test for test in after.tests}
    alike = [test.name for test in before.tests if test.name in tests and test.same_as(tests[test.name])]
    every = dict.fromkeys(test.name for one in (before, after) for test in one.tests)
    left_out = [
        *(f"setup {label}: only in one of the runs" for label in own if label not in common and not labels),
        *(f"test {name}: not the same in both runs" for name in every if name not in alike),
    ]
    if not common or not alike:
        raise UserError(f"the runs have no {'test' if common else 'setup'} in common: {'; '.join(left_out)}")
    comparisons = compare_runs(
        _shared(before, common, alike),
        _shared(after, common, alike),
        before.study.delta,
        (before.standings, after.standings),
    )
    pairs = [(_Side(before, label, "A"), _Side(after, label, "B")) for label in common]
    return Compared(
        *names,
        delta=before.study.delta,
        rows=_rows(pairs, [cell for cell in _cells(before) if cell[0] in alike], comparisons),
        differences=differences(before.record, after.record),
        one_machine=same_machine(before.record, after.record),
        left_out=left_out,
    )


def _cells(results: Results) -> list[tuple[str, str]]:
    return [(test.name, metric.name) for test in results.tests for metric in test.judged]


def _shared(results: Results, labels: list[str], tests: list[str]) -> list[Observation]:
    return [one for one in results.judged if one.label in labels and one.test in tests]


def _rows(
    pairs: list[tuple[_Side, _Side]], cells: list[tuple[str, str]], comparisons: list[Comparison]
) -> list[ComparisonRow]:
    """Return a row for each pair of setups in each test and metric that either side contains."""
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
    return rows


def _missing(sides: tuple[_Side, _Side], test: str, known: list[Estimate | None]) -> str:
    """Return the reason why there is no comparison, or an empty string if valid trials don't contain the metric."""
    without = [side.name for side, estimate in zip(sides, known, strict=True) if estimate is None]
    if len(without) == len(sides) and all(side.results.cells[side.label, test].valid for side in sides):
        return ""
    return f"no valid value in {series(without)}" if without else "no block has a value on both sides"
