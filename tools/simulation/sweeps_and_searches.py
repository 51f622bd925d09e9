"""Simulated setups whose best knobs are known: does a sweep keep them, does a search find them?

A trial's noise is that of a shared machine of two cores, 9%; what a whole block has in common is twice as noisy.
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
GOOD = 0.95  # of the best: a pick that is as good is found

Landscape = Callable[[int], NDArray[np.float64]]


def plateau(cells: int) -> NDArray[np.float64]:
    """Half of the cells are equally good, the others the worse the further away."""
    return np.minimum(1.0, 0.6 + 0.8 * np.arange(cells) / cells)


def peak(cells: int) -> NDArray[np.float64]:
    """One is the best, each step away from it loses 10%."""
    return np.asarray(0.9 ** abs(np.arange(cells) - cells // 3), dtype=np.float64)


def needle(cells: int) -> NDArray[np.float64]:
    """One is the best and all others are 10% behind it: the hardest, for nothing else is good enough."""
    return np.where(np.arange(cells) == cells // 2, 1.0, 0.9)


LANDSCAPES: dict[str, Landscape] = {"plateau": plateau, "peak": peak, "needle": needle}


@dataclass(frozen=True)
class Searches:
    """Shares of many searches: the pick is within 5% of the best, and the interval holds the true ratio of the two."""

    landscape: str
    cells: int
    first_blocks: int
    found: float
    covered: float

    @property
    def trials(self) -> int:
        """How many trials one takes."""
        return trials(self.cells, self.first_blocks)

    @property
    def grid_trials(self) -> int:
        """How many the whole grid takes, measured as often as the finalists."""
        return grid_trials(self.cells, self.first_blocks)


def searched(landscape: str, cells: int, first_blocks: int, repetitions: int, seed: int) -> Searches:
    """That many searches."""
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
    """Of many sweeps: the share in which the true best was dropped, and how many cells were kept on average."""

    noise: str
    cells: int
    blocks: int
    lost: float
    kept: float


def swept(noise: str, cells: int, blocks: int, repetitions: int, seed: int) -> Sweeps:
    """That many sweeps of cells that are all equal: the case in which a best one is lost most easily."""
    rng = np.random.default_rng(seed)
    best = 0
    lost = kept = 0
    for _ in range(repetitions):
        # The noises are those of response times, where more is slower.
        values = rng.normal(0, 2 * SD, (blocks, 1)) - NOISES[noise](rng, (blocks, cells)) * SD
        samples = {str(cell): dict(enumerate(map(float, values[:, cell]))) for cell in range(cells)}
        found = places(samples, more_is_better=True)
        lost += not found[str(best)].may_be_best
        kept += sum(place.may_be_best for place in found.values())
    return Sweeps(noise, cells, blocks, lost / repetitions, kept / repetitions)
