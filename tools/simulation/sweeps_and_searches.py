"""Simulate sweeps and searches whose best cells are known, and count how often the best cells are kept or found.

The noise of a trial is 9%, as on a machine with two shared cores. The noise of a block, which all trials in the block
share, is twice as large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from loadtests.analyse.best import places
from loadtests.measure.searches.halving import Halving, grid_trials, trials
from loadtests.records import AdviceOutcome, Round
from tools.simulation.studies import NOISES

SD = 0.09
GOOD = 0.95  # a pick that reaches this share of the best value counts as found

Landscape = Callable[[int], NDArray[np.float64]]


def plateau(cells: int) -> NDArray[np.float64]:
    """Return the true values of cells. Half of the cells are equally good, and the others get steadily worse."""
    return np.minimum(1.0, 0.6 + 0.8 * np.arange(cells) / cells)


def peak(cells: int) -> NDArray[np.float64]:
    """Return the true values of cells with a single best cell. Each step away from this cell loses 10%."""
    return np.asarray(0.9 ** abs(np.arange(cells) - cells // 3), dtype=np.float64)


def needle(cells: int) -> NDArray[np.float64]:
    """Return the true values of cells with a single best cell. All other cells are 10% worse.

    This landscape is the hardest, because only the best cell is good enough.
    """
    return np.where(np.arange(cells) == cells // 2, 1.0, 0.9)


LANDSCAPES: dict[str, Landscape] = {"plateau": plateau, "peak": peak, "needle": needle}


@dataclass(frozen=True)
class Searches:
    """The results of simulated searches.

    ``found`` is the share of searches whose pick is within 5% of the best cell. ``covered`` is the share of searches
    whose interval contains the true ratio of the two finalists.
    """

    landscape: str
    cells: int
    first_blocks: int
    found: float
    covered: float

    @property
    def trials(self) -> int:
        """The number of trials of a search."""
        return trials(self.cells, self.first_blocks)

    @property
    def grid_trials(self) -> int:
        """The number of trials for measuring the whole grid, with as many blocks as the finalists."""
        return grid_trials(self.cells, self.first_blocks)


def searched(landscape: str, cells: int, first_blocks: int, repetitions: int, seed: int) -> Searches:
    """Simulate searches by successive halving, and return their results."""
    rng = np.random.default_rng(seed)
    truth = dict(zip(map(str, range(cells)), LANDSCAPES[landscape](cells), strict=True))
    found = covered = 0
    for _ in range(repetitions):
        outcome = _search(truth, first_blocks, rng)
        assert outcome.runner_up is not None
        assert outcome.low is not None
        assert outcome.high is not None
        found += bool(truth[outcome.pick] >= GOOD * max(truth.values()))
        covered += bool(outcome.low <= truth[outcome.pick] / truth[outcome.runner_up] <= outcome.high)
    return Searches(landscape, cells, first_blocks, found / repetitions, covered / repetitions)


def _search(truth: dict[str, float], first_blocks: int, rng: np.random.Generator) -> AdviceOutcome:
    machine = Halving(list(truth), first_blocks)
    while isinstance(step := machine.next(), Round):
        noise = rng.normal(0, SD, (len(step.candidates), len(step.blocks))) + rng.normal(0, 2 * SD, len(step.blocks))
        machine.record(
            step,
            {
                one: {block: truth[one] * exp(value) for block, value in zip(step.blocks, row, strict=True)}
                for one, row in zip(step.candidates, noise, strict=True)
            },
        )
    return step


@dataclass(frozen=True)
class Sweeps:
    """The share of simulated sweeps in which the best cell is dropped, and the mean number of cells that are kept."""

    noise: str
    cells: int
    blocks: int
    lost: float
    kept: float


def swept(noise: str, cells: int, blocks: int, repetitions: int, seed: int) -> Sweeps:
    """Simulate sweeps of equally good cells, in which the analysis is most likely to drop a best cell."""
    rng = np.random.default_rng(seed)
    best = 0
    lost = kept = 0
    for _ in range(repetitions):
        # The sign is negative because NOISES are for response times, for which less is better.
        values = rng.normal(0, 2 * SD, (blocks, 1)) - NOISES[noise](rng, (blocks, cells)) * SD
        samples = {str(cell): dict(enumerate(map(float, values[:, cell]))) for cell in range(cells)}
        found = places(samples, more_is_better=True)
        lost += not found[str(best)].may_be_best
        kept += sum(place.may_be_best for place in found.values())
    return Sweeps(noise, cells, blocks, lost / repetitions, kept / repetitions)
