"""Find the cells that may be the best: a set that includes the true best with 95% confidence.

The cell that looks best was selected by its figure, so that figure is biased. So every cell is kept unless another one
is significantly better (Gupta, *On some multiple decision (selection and ranking) rules*, Technometrics 7, 1965). With
the same confidence, no cell is further behind the true best than its ``worst`` (Hsu, *Constrained simultaneous
confidence intervals for multiple comparisons with the best*, Annals of Statistics 12, 1984).

Cells are compared within common blocks, with the noise of each (``moderated``). With a common noise, one in eight
sweeps would drop the best cell if it is three times noisier than the others. The intervals are adjusted with
Bonferroni's method. Effects come from the model cell plus block, so a cell that misses blocks has a place too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf

import numpy as np

from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE, opened
from loadtests.analyse.observations import Bounds, Sample
from loadtests.analyse.trimmed import SAME, Array


@dataclass(frozen=True)
class Place:
    """A cell compared with the best.

    ``ratio`` is its ratio to the cell that looks best, and ``worst`` its worst possible ratio to the true best (0 or
    infinite if unknown). ``may_be_best`` means that no other cell is significantly better.
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
    """The place of each cell that has a value.

    ``samples`` are logarithms by block. ``bounds`` are the blocks with lower bounds.

    With one common block or none, every cell may be the best.
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


def ranked(samples: Mapping[str, Sample], more_is_better: bool) -> list[str]:
    """The cells with a value, the best first."""
    known = {label: sample for label, sample in samples.items() if sample}
    effects = dict(zip(known, _effects(known), strict=True)) if known else {}
    return sorted(known, key=lambda label: float(effects[label]), reverse=more_is_better)


def _ahead(row: Row, sign: float, error: float) -> tuple[Array, Array]:
    """Return the limits of the difference between the row's and the column's cell.

    Each is wrong with probability ``error``.
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
    """Estimate each cell's effect with the model cell plus block."""
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
