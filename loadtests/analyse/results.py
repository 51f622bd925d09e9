"""Compute the results of a run: the cell of each setup in each test, estimates and comparisons."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property

from loadtests.analyse.compare.within import Comparison, Estimate, NoiseFloor, compare, estimates, noise_floors
from loadtests.analyse.intervals import CONFIDENCE, CONFIDENCE_OF_LOOKS
from loadtests.analyse.saturation import is_lower_bound
from loadtests.plan.entries import alike
from loadtests.plan.kinds import Test
from loadtests.plan.kinds import metric as metric_of
from loadtests.plan.metrics import Metric
from loadtests.records import Trial
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import SetupRecord
from loadtests.trials import readings
from loadtests.trials.observations import Observation
from loadtests.trials.overload import Standing, standing
from loadtests.trials.reasons import RETIRED, is_setups_own, is_unverified


@dataclasses.dataclass(frozen=True)
class Cell:
    """The trials of one setup in one test. Figures come from the valid trials, one for each block."""

    label: str
    test: str
    valid: tuple[Trial, ...]
    invalid: tuple[Trial, ...]

    @property
    def unverified(self) -> tuple[Trial, ...]:
        """The last trial of each block, if contention or the load generator made all trials with a result invalid.

        An attempt without a result is ignored unless the setup is at fault, because the harness repeats a trial if it
        loses a worker or the connection to a host.
        """
        measured = [trial for trial in self.invalid if trial.result or is_setups_own(trial.flags)]
        if self.valid or not all(is_unverified(trial.flags) for trial in measured):
            return ()
        return tuple({trial.block: trial for trial in measured}.values())


class Results:
    """The results of a run, whose files are read only once.

    ``labels`` and ``tests`` are in the study's order. ``roles`` contains the roles of the charged processes, and
    ``uncharged`` contains the roles of the supporting services.
    """

    def __init__(self, run: Run) -> None:
        self.record = run.record
        self.study = run.record.study
        self.tests = self.study.tests
        self.labels: list[str] = [entry.label for entry in self.study.entries]
        self.baseline: str = self.study.baseline
        self.trials = [
            dataclasses.replace(trial, flags=tuple(flag for flag in trial.flags if flag.reason not in RETIRED))
            for trial in run.trials()
        ]
        self.blocks = len({trial.block for trial in self.trials})
        self.roles = readings.roles(self.trials)
        self.uncharged = readings.roles(self.trials, charged=False)
        self.left_out = {(one.label, one.test) for one in self.record.left_out}

    def test(self, name: str) -> Test:
        return next(test for test in self.tests if test.name == name)

    def labels_in(self, test: str) -> list[str]:
        """Return the labels that are measured in the test."""
        return [label for label in self.labels if self.left_out.isdisjoint({(label, test), (label, None)})]

    def labels_without_copy(self, test: str) -> list[str]:
        """Return the labels in a test without the A/A copy of the baseline."""
        return [label for label in self.labels_in(test) if label != self.aa_copy]

    def by_estimate(self, test: Test, metric: Metric) -> list[str]:
        """Return all labels in a test, sorted by their figures. Labels without a figure are last.

        The order doesn't mean that the differences are significant.
        """
        labels = self.labels_in(test.name)
        estimates = {label: self.estimate(label, test.name, metric.name) for label in labels}
        return _sorted({label: one.value if one else None for label, one in estimates.items()}, metric)

    def by_ratio(self, test: Test, metric: Metric) -> list[str]:
        """Return the candidates in a test, sorted by their ratios to the baseline. Labels without a ratio are last."""
        labels = [label for label in self.candidates if label in self.labels_in(test.name)]
        comparisons = {label: self.comparisons.get((label, test.name, metric.name)) for label in labels}
        return _sorted({label: one.ratio if one else None for label, one in comparisons.items()}, metric)

    def called(self, test: str, metric: str) -> str:
        """Return the name of a metric in a test, such as ``p99 response time``."""
        return metric_of(metric).in_words(self.latency(test))

    def latency(self, test: str) -> str:
        """Return the name of the times in a test. Some engines only measure the service time."""
        found = {trial.result.latency_of for trial in self.trials if trial.test == test and trial.result}
        return "service time" if "service_time" in found else self.test(test).kind.time_name

    def setup(self, label: str) -> SetupRecord:
        return self.record.setups[label]

    @cached_property
    def aa_copy(self) -> str | None:
        """The label of the baseline's A/A copy, which shows the noise floor, or None."""
        entries = {entry.label: entry for entry in self.study.entries}
        own = entries.pop(self.baseline)
        return next((label for label, one in entries.items() if alike(one, own)), None)

    @cached_property
    def own_baselines(self) -> dict[str, str]:
        """The baseline of each label in a study of pairs, or an empty dict in other studies."""
        return {entry.label: entry.against for entry in self.study.entries if entry.against}

    @property
    def candidates(self) -> list[str]:
        others = [label for label in self.labels if label not in (self.baseline, self.aa_copy)]
        return list(self.own_baselines) or others

    def baseline_of(self, label: str) -> str:
        return self.own_baselines.get(label, self.baseline)

    @property
    def baseline_name(self) -> str:
        """The name of the baseline in a sentence about all candidates."""
        return "its own baseline" if self.own_baselines else self.baseline

    def compared(
        self, pairs: Sequence[tuple[str, str]], observations: Iterable[Observation], confidence: float = CONFIDENCE
    ) -> list[Comparison]:
        """Compare each pair of (baseline, candidate) in every test and metric.

        The comparisons form one family, so their intervals are adjusted together.
        """
        observations = list(observations)
        found: list[Comparison] = []
        for baseline in dict.fromkeys(baseline for baseline, _ in pairs):
            candidates = [label for against, label in pairs if against == baseline]
            copy = self.aa_copy if baseline == self.baseline and self.aa_copy not in candidates else None
            share = len(candidates) / len(pairs)
            own = confidence if share == 1 else 1 - (1 - confidence) * share
            found += compare(observations, baseline, self.study.delta, copy, self.standings, candidates, own)
        return [dataclasses.replace(one, family=len(found)) for one in found]

    @cached_property
    def cells(self) -> dict[tuple[str, str], Cell]:
        """The trials by label and test. A valid repeat takes the place of the block's invalid trial."""
        cells = {}
        for label in self.labels:
            for test in self.tests:
                own = [trial for trial in self.trials if (trial.label, trial.test) == (label, test.name)]
                valid = {trial.block: trial for trial in own if trial.valid}
                invalid = tuple(trial for trial in own if not trial.valid)
                cells[label, test.name] = Cell(label, test.name, tuple(valid.values()), invalid)
        return cells

    @cached_property
    def standings(self) -> dict[tuple[str, str], Standing]:
        """The outcome of each setup in each test, by label and test."""
        return {key: standing(self.test(key[1]), cell.valid) for key, cell in self.cells.items()}

    @cached_property
    def observations(self) -> list[Observation]:
        found = []
        for (label, name), cell in self.cells.items():
            bounded = self.is_lower_bound(label, name)
            for trial in cell.valid:
                for one in readings.observations(trial, self.test(name)):
                    at_least = one.at_least or (bounded and metric_of(one.metric).is_throughput)
                    found.append(dataclasses.replace(one, at_least=at_least))
        return found

    def is_lower_bound(self, label: str, test: str) -> bool:
        """Check whether a setup's throughput in a test is only a lower bound."""
        return is_lower_bound(self.test(test), self.cells[label, test].valid)

    @cached_property
    def _estimates(self) -> dict[tuple[str, str, str], Estimate]:
        return {(one.label, one.test, one.metric): one for one in estimates(self.observations) if one.blocks}

    def estimate(self, label: str, test: str, metric: str) -> Estimate | None:
        """Return a setup's mean over blocks and its interval, or None if no valid trial contains the metric."""
        return self._estimates.get((label, test, metric))

    @cached_property
    def unverified_observations(self) -> list[Observation]:
        """All figures of unverified trials. They are shown, but never ranked, compared or exported."""
        return [
            one
            for cell in self.cells.values()
            for trial in cell.unverified
            for one in readings.observations(trial, self.test(cell.test))
        ]

    @cached_property
    def _unverified(self) -> dict[tuple[str, str, str], Estimate]:
        return {(one.label, one.test, one.metric): one for one in estimates(self.unverified_observations)}

    def unverified(self, label: str, test: str, metric: str) -> Estimate | None:
        """Return a setup's mean over unverified trials, or None if a trial is valid or no trial contains the metric."""
        return self._unverified.get((label, test, metric))

    @cached_property
    def judged(self) -> list[Observation]:
        names = {test.name: {metric.name for metric in test.judged} for test in self.tests}
        return [one for one in self.observations if one.metric in names[one.test]]

    @property
    def family(self) -> int:
        """The number of comparisons whose intervals hold at the same time, or 0 without comparisons."""
        return max((one.family for one in self.comparisons.values()), default=0)

    @cached_property
    def comparisons(self) -> dict[tuple[str, str, str], Comparison]:
        """The comparisons of all candidates with their baselines, by label, test and metric.

        The intervals are adjusted for repeated checks if the run added blocks until it reached a goal.
        """
        confidence = CONFIDENCE_OF_LOOKS if self.record.goal else CONFIDENCE
        pairs = [(self.baseline_of(label), label) for label in self.candidates]
        found = self.compared(pairs, self.judged, confidence)
        return {(one.candidate, one.test, one.metric): one for one in found if one.informative}

    @cached_property
    def floors(self) -> dict[tuple[str, str], NoiseFloor]:
        """The noise floors by test and metric, or an empty dict if the baseline has no A/A copy."""
        if self.aa_copy is None:
            return {}
        found = noise_floors(self.judged, self.baseline, self.aa_copy)
        return {(one.test, one.metric): one for one in found if one.blocks}


def _sorted(values: dict[str, float | None], metric: Metric) -> list[str]:
    known = {label: value for label, value in values.items() if value is not None}
    ordered = sorted(known, key=known.__getitem__)
    if metric.more_is_better:
        ordered.reverse()
    return [*ordered, *(label for label in values if label not in known)]
