"""Find all cells of a sweep that may be the best. With 95% confidence, the true best cell is one of these cells.

The cell that looks best was selected by its figure, so this figure is biased. Therefore, a cell is dropped only if
another cell is significantly better (Gupta, *On some multiple decision (selection and ranking) rules*, Technometrics 7,
1965). With the same confidence, no cell's ratio to the true best cell is worse than its ``worst`` (Hsu,
*Constrained simultaneous confidence intervals for multiple comparisons with the best*, Annals of Statistics 12, 1984).

Cells are compared within common blocks, and each cell has its own noise (``moderated``). If all cells were assumed to
be equally noisy, one in eight sweeps would drop a best cell that is three times noisier than the other cells. The
intervals are adjusted with Bonferroni's method. The effects of the cells come from an additive model of cell and block,
so cells with missing blocks are also ranked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf

import numpy as np

from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE, opened
from loadtests.analyse.trimmed import SAME, Array
from loadtests.trials.observations import Bounds, Sample


@dataclass(frozen=True)
class Place:
    """The result of comparing a cell with the best cell.

    ``ratio`` is the cell's figure divided by the figure of the cell that looks best. ``worst`` is the worst possible
    ratio to the true best cell. It is 0 or infinity if this ratio isn't known. ``may_be_best`` means that no other cell
    is significantly better.
    """

    ratio: float
    worst: float
    may_be_best: bool


def places(
    samples: Mapping[str, Sample],
    more_is_better: bool,
    confidence: float = CONFIDENCE,
    bounds: Bounds | None = None,
) -> dict[str, Place]:
    """Compare each cell that has a value with the best cell.

    ``samples`` contains the logarithms of each cell's values by block. ``bounds`` contains the blocks in which a cell's
    value is a lower bound. If the cells have at most one block in common, every cell may be the best.
    """
    known = {label: sample for label, sample in samples.items() if sample}
    if not known:
        return {}
    sign = 1.0 if more_is_better else -1.0
    effects = sign * _effects(known)
    behind = effects.max() - effects
    low, high = _ahead(Row(known, (), bounds), sign, (1 - confidence) / max(1, len(known) - 1))
    return {
        label: Place(
            ratio=exp(-sign * float(behind[i])),
            worst=_exp(sign * float(low[i].min())),
            may_be_best=bool(behind[i] == 0 or high[i].min() >= -SAME),
        )
        for i, label in enumerate(known)
    }


def _ahead(row: Row, sign: float, error: float) -> tuple[Array, Array]:
    """Return the lower and the upper limits of the differences between cells, each as a matrix.

    A difference is the row's cell minus the column's cell. Each limit is wrong with probability ``error``.
    """
    low, high = (np.zeros((len(row.samples), len(row.samples))) for _ in range(2))
    for (i, one), (j, other) in combinations(enumerate(row.samples), 2):
        pair = row.between(other, one)
        found = pair.interval(2 * error)
        if pair.at_least or pair.at_most:
            found = opened(found, below=True, above=True)
        ends = sorted((sign * found.low, sign * found.high))
        low[i, j], high[i, j] = ends
        low[j, i], high[j, i] = -ends[1], -ends[0]
    return low, high


def _effects(known: Mapping[str, Sample]) -> Array:
    """Estimate each cell's effect with an additive model of cell and block."""
    blocks = sorted({block for sample in known.values() for block in sample})
    rows = [
        (i, blocks.index(block), value) for i, sample in enumerate(known.values()) for block, value in sample.items()
    ]
    design = np.zeros((len(rows), len(known) + len(blocks) - 1))
    for row, (cell, block, _) in enumerate(rows):
        design[row, cell] = 1.0
        if block:
            design[row, len(known) + block - 1] = 1.0
    found = np.linalg.lstsq(design, np.array([value for _, _, value in rows]), rcond=None)[0]
    return np.asarray(found[: len(known)], dtype=np.float64)


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
