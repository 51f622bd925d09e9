"""The run as a table: a cell for each setup and test, with its trials, its estimates and its comparisons."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.compare.within import Comparison, Estimate, NoiseFloor, compare, estimates, noise_floors
from loadtests.analyse.observations import Observation
from loadtests.store import Run, Trial


@dataclasses.dataclass(frozen=True)
class Measured:
    """The trials of one setup in one test. Only the valid ones enter any figure, one for each block."""

    label: str
    test: str
    valid: tuple[Trial, ...]
    invalid: tuple[Trial, ...]


class Results:
    """A run, read once. ``labels`` and ``tests`` are in the order of the study."""

    def __init__(self, run: Run) -> None:
        self.about = run.about
        self.study: dict[str, Any] = run.about["study"]
        self.tests: list[dict[str, Any]] = self.study["tests"]
        self.labels: list[str] = [entry["label"] for entry in self.study["entries"]]
        self.baseline: str = self.study["baseline"]
        self.trials = list(run.trials())
        self.blocks = len({trial.block for trial in self.trials})
        self.roles = metrics.roles(self.trials)

    @property
    def skipped(self) -> dict[str, str]:
        """The setups that this machine could not run, and in a few words why not."""
        found: dict[str, str] = self.about.get("skipped") or {}
        return found

    def latency(self, test: str) -> str:
        """What the test's percentiles are of: response time, or service time where its engine knows no better."""
        found = {metrics.latency_of(trial) for trial in self.trials if trial.test == test and trial.result}
        return "service time" if "service_time" in found else "response time"

    def setup(self, label: str) -> dict[str, Any]:
        """What the supervisor file says of the setup under that label."""
        found: dict[str, Any] = (self.about.get("setups") or {}).get(label) or {}
        return found

    @cached_property
    def twin(self) -> str | None:
        """The label under which the baseline runs a second time, where it does: the machine's noise floor."""
        same = [(entry["setup"], entry["env"], entry["label"]) for entry in self.study["entries"]]
        setup, env, _ = next(entry for entry in same if entry[2] == self.baseline)
        return next((label for *how, label in same if how == [setup, env] and label != self.baseline), None)

    @property
    def candidates(self) -> list[str]:
        """What is compared with the baseline."""
        return [label for label in self.labels if label not in (self.baseline, self.twin)]

    @cached_property
    def cells(self) -> dict[tuple[str, str], Measured]:
        """The trials by label and test. An invalid trial's repeat takes its place in the block."""
        cells = {}
        for label in self.labels:
            for test in self.tests:
                own = [trial for trial in self.trials if (trial.label, trial.test) == (label, test["name"])]
                valid = {trial.block: trial for trial in own if trial.status == "ok"}
                invalid = tuple(trial for trial in own if trial.status != "ok")
                cells[label, test["name"]] = Measured(label, test["name"], tuple(valid.values()), invalid)
        return cells

    @cached_property
    def observations(self) -> list[Observation]:
        """All figures of all valid trials."""
        trials = (trial for cell in self.cells.values() for trial in cell.valid)
        return [one for trial in trials for one in metrics.observations(trial)]

    @cached_property
    def _estimates(self) -> dict[tuple[str, str, str], Estimate]:
        return {(one.label, one.test, one.metric): one for one in estimates(self.observations) if one.blocks}

    def estimate(self, label: str, test: str, metric: str) -> Estimate | None:
        """The median over blocks and its interval; None where no valid trial knows it."""
        return self._estimates.get((label, test, metric))

    @cached_property
    def judged(self) -> list[Observation]:
        """The figures that verdicts are given on."""
        kinds = {test["name"]: metrics.judged(test["kind"]) for test in self.tests}
        return [one for one in self.observations if one.metric in kinds[one.test]]

    @cached_property
    def comparisons(self) -> dict[tuple[str, str, str], Comparison]:
        """Every candidate against the baseline, by label, test and metric; one family, corrected together."""
        found = compare(self.judged, self.baseline, self.study["delta"], self.twin)
        return {(one.candidate, one.test, one.metric): one for one in found if one.blocks}

    @cached_property
    def floors(self) -> dict[tuple[str, str], NoiseFloor]:
        """The noise floor by test and metric, where the baseline ran twice."""
        if self.twin is None:
            return {}
        found = noise_floors(self.judged, self.baseline, self.twin)
        return {(one.test, one.metric): one for one in found if one.blocks}
