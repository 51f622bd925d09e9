"""Simulate sweeps of equally good cells, and count how often a best cell is dropped.

The noise of a trial is 9%, as on a machine with two shared cores. The noise of a block, which all trials in the block
share, is twice as large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loadtests.analyse.best import places
from tools.simulation.studies import NOISES

SD = 0.09


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
