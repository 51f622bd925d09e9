"""What a sweep has found: where every cell stands in every measure, what it takes, and which one to choose."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cached_property

from loadtests.analyse import metrics
from loadtests.analyse.best import Place, places
from loadtests.analyse.intervals import CONFIDENCE
from loadtests.analyse.observations import Table
from loadtests.analyse.results import Results
from loadtests.plan.metrics import metric as metric_of
from loadtests.plan.sweep import Sweep, environment
from loadtests.report.sections import advice as searched
from loadtests.report.sections.verdicts import name
from loadtests.report.words import number, ratio, series

MEMORY = "memory_peak_mb"
ASKED = {"throughput": "rps", "latency": "p99_ms", "capacity": metrics.CAPACITY}


@dataclasses.dataclass(frozen=True)
class Measure:
    """What cells are compared in: a metric of a test, what it is called, and which way is better."""

    test: str
    metric: str
    name: str
    more_is_better: bool


class Swept:
    """A run of a sweep. ``labels`` are its cells in the study's order, which should be from simple to costly."""

    def __init__(self, results: Results, sweep: Sweep) -> None:
        self.results = results
        self.sweep = sweep
        self.env: dict[str, dict[str, str]] = {entry["label"]: entry["env"] for entry in results.study["entries"]}
        self.labels = [label for label in results.labels if label != results.twin]

    @cached_property
    def measures(self) -> list[Measure]:
        """One for each test of the study."""
        asked = [(test["name"], ASKED[test["kind"]]) for test in self.results.tests]
        found = []
        for test, metric in asked:
            called = name(self.results, test, metric)
            if sum(other == metric for _, other in asked) > 1:
                called = f"{called} in {test}"
            found.append(Measure(test, metric, called, metric_of(metric).more_is_better))
        return found

    @cached_property
    def places(self) -> dict[Measure, dict[str, Place]]:
        """Every cell's place in every measure; all of them hold together with 95%."""
        observed = Table(self.results.observations).samples
        level = 1 - (1 - CONFIDENCE) / len(self.measures)
        found = {}
        for measure in self.measures:
            samples = observed.get((measure.test, measure.metric), {})
            own = {
                label: samples[label] for label in self.labels if label in samples and not self._fails(label, measure)
            }
            found[measure] = places(own, measure.more_is_better, level)
        return found

    def _fails(self, label: str, measure: Measure) -> bool:
        """Whether a percentile says nothing of the cell, because it did not answer the rest of what it was asked."""
        valid = self.results.cells[label, measure.test].valid
        return not measure.more_is_better and metrics.failed_share(valid) >= metrics.FAILED

    @cached_property
    def memory(self) -> dict[str, float]:
        """Peak memory of a cell in MB, in the test in which it takes the most; without cells where it is not known."""
        found: dict[str, float] = {}
        for label, test in itertools.product(self.labels, self.results.tests):
            estimate = self.results.estimate(label, test["name"], MEMORY)
            if estimate is not None:
                found[label] = max(found.get(label, 0.0), estimate.median)
        return found

    @property
    def searched(self) -> bool:
        """Whether the cells were measured by ``advise``, round by round, and not all alike."""
        return "advice" in self.results.about

    def best(self, measure: Measure) -> str | None:
        """The cell that looks best; None where none has a figure."""
        return next((label for label, place in self.places[measure].items() if place.ratio == 1), None)

    @property
    def told(self) -> bool:
        """Whether noise can be told from difference: not in a single block, and not in a search by halving, which
        measured a cell the less the worse it looked."""
        return not self.searched and all(
            0 < place.worst < float("inf") for found in self.places.values() for place in found.values()
        )

    @property
    def known(self) -> list[Measure]:
        """The measures that any cell has a figure of: a short trial knows no 99th percentile."""
        return [measure for measure in self.measures if self.places[measure]]

    @cached_property
    def front(self) -> list[str]:
        """The cells that are within noise of the best in every measure."""
        return [
            label
            for label in self.labels
            if all(
                (place := self.places[measure].get(label)) is not None and place.may_be_best for measure in self.known
            )
        ]

    @cached_property
    def choice(self) -> str | None:
        """Of the cells in front the one that takes the least memory: what is within delta of that is alike, and of
        those it is the first in the study's order. None where none is in front, or noise is not known."""
        if not self.front or not self.told:
            return None
        known = [label for label in self.front if label in self.memory]
        if not known:
            return self.front[0]
        enough = min(self.memory[label] for label in known) * (1 + self.results.study["delta"])
        return next(label for label in known if self.memory[label] <= enough)

    def words(self, label: str) -> str:
        """A cell in words."""
        return self.sweep.words(self.env[label])


def advice(swept: Swept) -> str:
    """What to choose, in a few sentences."""
    if swept.searched:
        return " ".join(
            [*searched.sentences(swept.results.about, swept.sweep), searched.line(swept.results.about)]
        ).strip()
    if not swept.known:
        return "Nothing: no cell has a figure."
    if not swept.told:
        return (
            "Not known: too few blocks hold valid trials of the cells to tell noise from difference. "
            "More blocks can (--blocks)."
        )
    choice = swept.choice
    if choice is None:
        best = [f"{swept.words(label)} for {measure.name}" for measure in swept.known if (label := swept.best(measure))]
        return f"It depends on what counts, for no cell is within noise of the best in all: {series(best)} look best."
    unknown = [measure.name for measure in swept.measures if measure not in swept.known]
    without = f" Not known, for the trials are too short: {series(unknown)}." if unknown else ""
    return f"{_standing(swept, choice)}{_memory(swept, choice)}.{without} Set {environment(swept.env[choice])}"


def _standing(swept: Swept, choice: str) -> str:
    behind = []
    for measure in swept.known:
        place = swept.places[measure][choice]
        if place.ratio != 1:
            best = swept.best(measure)
            assert best is not None
            behind.append(
                f"{ratio(place.ratio)} the {measure.name} of {swept.words(best)}, at the worst {ratio(place.worst)}"
            )
    if not behind:
        return f"{swept.words(choice)} looks best in {series([measure.name for measure in swept.known])}"
    return f"{swept.words(choice)} is within noise of the best ({'; '.join(behind)})"


def _memory(swept: Swept, choice: str) -> str:
    """What it takes beside the cell that looks best in the first measure in which the choice itself does not."""
    best = next((label for measure in swept.known if (label := swept.best(measure)) not in (None, choice)), None)
    if best is None or choice not in swept.memory or best not in swept.memory:
        return ""
    share = swept.memory[choice] / swept.memory[best]
    if abs(share - 1) <= swept.results.study["delta"]:
        return ", and uses as much memory"
    figures = f"{number(swept.memory[choice])} instead of {number(swept.memory[best])} MB"
    return f", and uses {share:.0%} of its memory ({figures})"
