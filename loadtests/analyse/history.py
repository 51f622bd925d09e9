"""A study's results over time on one machine, and their significant changes."""

from __future__ import annotations

import dataclasses
import itertools
from math import inf, isfinite, nan
from pathlib import Path

from loadtests.analyse.changes import RUNS_FOR_MARKS, Mark, Point, changes
from loadtests.analyse.compare.differences import RunDifference, differences, same_machine
from loadtests.analyse.compare.sides import judged_cells, same_tests
from loadtests.analyse.compare.within import Estimate, estimates, ratios_to
from loadtests.analyse.results import Results
from loadtests.errors import UserError, nearest
from loadtests.formatting import plural
from loadtests.records.run.folder import Run
from loadtests.records.run.folder import runs as run_folders

Cell = tuple[str, str, str]  # test, metric, label


@dataclasses.dataclass(frozen=True)
class Series:
    """One metric of one setup in one test, run after run.

    ``figures`` are its means by run; ``marks`` judge the ratios to the baseline ``against`` in the same run, so that a
    change of the machine is no change of the setup. The baseline is judged by its own figures."""

    label: str
    test: str
    metric: str
    name: str
    against: str
    figures: dict[str, Estimate]
    marks: list[Mark]


@dataclasses.dataclass(frozen=True)
class Change:
    """A mark, with what else changed since the previous run of its series."""

    series: Series
    before: str
    mark: Mark
    differences: list[RunDifference]


@dataclasses.dataclass(frozen=True)
class History:
    """The runs of a study on the newest one's machine, oldest first. ``left_out``: sentences about other runs."""

    study: str
    title: str
    runs: dict[str, Results]
    series: list[Series]
    left_out: list[str]

    @property
    def too_short(self) -> bool:
        return all(len(series.marks) < RUNS_FOR_MARKS for series in self.series)

    @property
    def troubled(self) -> list[str]:
        """Sentences about failures, once for each run, setup and test."""
        found = (
            (mark.point.run, f"{series.label} in {series.test}", mark.point.trouble)
            for series in self.series
            for mark in series.marks
            if mark.point.trouble
        )
        order = list(self.runs)
        return [": ".join(one) for one in sorted(dict.fromkeys(found), key=lambda one: order.index(one[0]))]

    @property
    def changes(self) -> list[Change]:
        found = [
            Change(
                series,
                before.point.run,
                mark,
                differences(self.runs[before.point.run].record, self.runs[mark.point.run].record),
            )
            for series in self.series
            for before, mark in itertools.pairwise(series.marks)
            if mark.change is not None
        ]
        order = list(self.runs)
        return sorted(found, key=lambda change: order.index(change.mark.point.run))


def history_of(study: str, folder: Path) -> History:
    """The history of a study in ``folder``. Raises UserError where the newest run's machine has fewer than two runs, or
    they have no figure."""
    known, left_out = _runs(study, folder)
    newest = known[-1].record
    here = [run for run in known if same_machine(run.record, newest)]
    if len(here) < len(known):
        left_out.append(f"{plural(len(known) - len(here), 'run')} on other machines")
    runs = {run.path.name: Results(run) for run in here}
    if len(runs) < 2:
        others = f" ({', '.join(left_out)} left out)" if left_out else ""
        raise UserError(f"{study} has one run on this machine{others}; a history needs two: make bench STUDY={study}")
    series = _series(runs)
    if not series:
        raise UserError(
            f"{study} has no history: none of {plural(len(runs), 'run')} has a figure of the newest one's tests"
        )
    return History(study, newest.study.title, runs, series, left_out)


def _runs(study: str, folder: Path) -> tuple[list[Run], list[str]]:
    """The runs of the study, oldest first, and sentences about runs that cannot be read."""
    runs: list[Run] = []
    left_out = []
    for path in run_folders(folder):
        try:
            runs.append(Run.open(path))
        except UserError as error:
            left_out.append(str(error))
    names = {run.record.study.name for run in runs}
    if study not in names:
        runs_of = nearest(study, names, "there are runs of")
        raise UserError(f"there is no run of a study {study!r} in {folder.name}/; {runs_of}")
    own = [run for run in runs if run.record.study.name == study]
    return sorted(own, key=lambda run: run.record.created), left_out


def _series(runs: dict[str, Results]) -> list[Series]:
    """A series for each setup, test and metric of the newest run, over the runs with the same test."""
    newest = list(runs.values())[-1]
    baseline = newest.baseline
    figures: dict[Cell, dict[str, Estimate]] = {}
    points: dict[Cell, list[Point]] = {}
    for name, results in runs.items():
        alike = same_tests(newest, results)
        ratios = _ratios(results, baseline)
        for one in estimates(results.judged):
            known = one.blocks and isfinite(one.value)
            if known and one.test in alike and one.label in newest.labels and one.label != newest.aa_copy:
                cell = (one.test, one.metric, one.label)
                figures.setdefault(cell, {})[name] = one
                judged = one if one.label == baseline else ratios.get(cell)
                points.setdefault(cell, []).append(_point(name, results, one, judged))
    shown = [
        cell
        for test, metric in judged_cells(newest)
        for label in newest.labels
        if (cell := (test, metric, label)) in points
    ]
    return [
        Series(
            label=cell[2],
            test=cell[0],
            metric=cell[1],
            name=newest.called(*cell[:2]),
            against="" if cell[2] == baseline else baseline,
            figures=figures[cell],
            marks=changes(points[cell], newest.study.delta),
        )
        for cell in shown
    ]


def _ratios(results: Results, baseline: str) -> dict[Cell, Estimate]:
    """The ratios to the baseline, where it had no failures."""
    copy = results.aa_copy if results.baseline == baseline else None
    found = ratios_to(results.judged, baseline, copy)
    return {
        (one.test, one.metric, one.label): one for one in found if not results.standings[baseline, one.test].trouble
    }


def _point(run: str, results: Results, figure: Estimate, judged: Estimate | None) -> Point:
    """A point of a series; without an interval where it is not known."""
    value, low, high = (judged.value, judged.low, judged.high) if judged else (nan, 0.0, inf)
    return Point(run, value, low, high, results.standings[figure.label, figure.test].trouble)
