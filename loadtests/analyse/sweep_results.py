"""Compute the results of a sweep: the place of each cell in each measure, its memory, and the recommended cell."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cached_property

from loadtests.analyse.best import Place, places
from loadtests.analyse.intervals import CONFIDENCE
from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import MEMORY_PEAK, Metric
from loadtests.plan.sweep import Sweep
from loadtests.trials.observations import Observations


@dataclasses.dataclass(frozen=True, eq=False)
class Measure:
    """The decisive metric of a test. The cells of a sweep are compared in this metric."""

    test: Test
    metric: Metric
    name: str


class SweepResults:
    """The results of a sweep. ``labels`` contains the labels of the cells in the study's order."""

    def __init__(self, results: Results, sweep: Sweep) -> None:
        self.results = results
        self.sweep = sweep
        self.env = {entry.label: entry.env for entry in results.study.entries}
        self.labels = [label for label in results.labels if label != results.aa_copy]

    @cached_property
    def measures(self) -> list[Measure]:
        """One measure for each test of the study."""
        measures = []
        for test in self.results.tests:
            name = self.results.called(test.name, test.decisive.name)
            if sum(other.decisive is test.decisive for other in self.results.tests) > 1:
                name = f"{name} in {test.name}"
            measures.append(Measure(test, test.decisive, name))
        return measures

    @cached_property
    def places(self) -> dict[Measure, dict[str, Place]]:
        """The place of each cell in each measure. All places hold simultaneously with 95% confidence."""
        table = Observations(self.results.observations)
        level = 1 - (1 - CONFIDENCE) / len(self.measures)
        by_measure = {}
        for measure in self.measures:
            key = measure.test.name, measure.metric.name
            samples = table.samples.get(key, {})
            own = {
                label: samples[label] for label in self.labels if label in samples and not self._fails(label, measure)
            }
            by_measure[measure] = places(own, measure.metric.more_is_better, level, table.bounds.get(key))
        return by_measure

    def _fails(self, label: str, measure: Measure) -> bool:
        """Return whether too many requests of a cell failed, so that its percentiles aren't meaningful."""
        return not measure.metric.more_is_better and self.results.standings[label, measure.test.name].fails

    @cached_property
    def memory(self) -> dict[str, float]:
        """The peak memory over all tests in MB, by cell. Cells without a measured value are left out."""
        most: dict[str, float] = {}
        for label, test in itertools.product(self.labels, self.results.tests):
            estimate = self.results.estimate(label, test.name, MEMORY_PEAK.name)
            if estimate is not None:
                most[label] = max(most.get(label, 0.0), estimate.value)
        return most

    def looks_best(self, measure: Measure) -> str | None:
        """Return the cell that looks best, or None if no cell has a figure."""
        return next((label for label, place in self.places[measure].items() if place.ratio == 1), None)

    @property
    def knows_noise(self) -> bool:
        """Whether the noise of all cells is known. It isn't known with a single block."""
        return all(0 < place.worst < float("inf") for cells in self.places.values() for place in cells.values())

    @property
    def known_measures(self) -> list[Measure]:
        return [measure for measure in self.measures if self.places[measure]]

    @cached_property
    def within_noise(self) -> list[str]:
        """The cells that are within noise of the best in every measure."""
        return [
            label
            for label in self.labels
            if all(
                (place := self.places[measure].get(label)) is not None and place.may_be_best
                for measure in self.known_measures
            )
        ]

    @cached_property
    def choice(self) -> str | None:
        """The first cell in the study's order that is within noise of the best and within delta of the smallest memory.

        The value is None if there is no such cell or if the noise isn't known.
        """
        if not self.within_noise or not self.knows_noise:
            return None
        known = [label for label in self.within_noise if label in self.memory]
        if not known:
            return self.within_noise[0]
        enough = min(self.memory[label] for label in known) * (1 + self.results.study.delta)
        return next(label for label in known if self.memory[label] <= enough)

    def words(self, label: str) -> str:
        return self.sweep.words(self.env[label])


def read_sweep(results: Results) -> SweepResults | None:
    """Return the results of a sweep, or None if the run isn't a sweep."""
    sweep = results.study.sweep
    return SweepResults(results, sweep) if sweep else None
