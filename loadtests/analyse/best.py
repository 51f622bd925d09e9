"""Which of many cells may be the best? A set of them that holds the true best with 95%.

The cell that looks best was picked because it looked best: its figure flatters it, and an interval against it that
ignores the picking is too narrow. So none is compared with it as if it had been named before. Every cell in turn is
taken for the best, and is dropped only where another is surely better. The true best, whichever it is, is then
dropped with 5% at most, however many cells there are (Gupta, *On some multiple decision (selection and ranking)
rules*, Technometrics 7, 1965). In the same 95% every cell is at its worst no further behind the true best than is
said of it (Hsu, *Constrained simultaneous confidence intervals for multiple comparisons with the best*, Annals of
Statistics 12, 1984).

The figures are logarithms, fitted as cell plus block: what a whole block has in common cancels as it does in a ratio
within the block, and a cell that misses a block is not lost. All cells share one noise, which many cells tell well
even from few blocks; the level is shared among the comparisons as by Bonferroni.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf

import numpy as np
from scipy.special import stdtrit

from loadtests.analyse.intervals import CONFIDENCE
from loadtests.analyse.observations import Sample
from loadtests.analyse.trimmed import SAME, Array


@dataclass(frozen=True)
class Place:
    """A cell against the best. ``ratio`` is its figure over that of the one that looks best, and ``worst`` what its
    ratio to the true best may be at the worst (0 or infinite where nothing is known). ``may_be_best``: no other cell
    is surely better, so it is within noise of the best."""

    ratio: float
    worst: float
    may_be_best: bool


def places(samples: Mapping[str, Sample], more_is_better: bool, confidence: float = CONFIDENCE) -> dict[str, Place]:
    """The place of each cell that has a value; ``samples`` are logarithms by block.

    Where nothing tells noise from difference (one block, or cells that share none) all may be the best.
    """
    known = {label: sample for label, sample in samples.items() if sample}
    if not known:
        return {}
    sign = 1.0 if more_is_better else -1.0
    effects, errors, free = _fit(known, sign)
    ahead = effects[:, None] - effects[None, :]  # of the row's cell over the column's
    reach = np.full_like(ahead, inf)
    if free:
        reach = errors * stdtrit(free, 1 - (1 - confidence) / max(1, len(known) - 1))
    np.fill_diagonal(reach, 0.0)
    return {
        label: Place(
            ratio=exp(sign * float(ahead[i].min())),
            worst=_exp(sign * float((ahead - reach)[i].min())),
            may_be_best=bool((ahead + reach)[i].min() >= -SAME),
        )
        for i, label in enumerate(known)
    }


def _fit(known: Mapping[str, Sample], sign: float) -> tuple[Array, Array, int]:
    """Each cell's effect, the standard errors of their differences, and the noise's degrees of freedom (0: unknown)."""
    blocks = sorted({block for sample in known.values() for block in sample})
    rows = [
        (i, blocks.index(block), value) for i, sample in enumerate(known.values()) for block, value in sample.items()
    ]
    design = np.zeros((len(rows), len(known) + len(blocks) - 1))
    for row, (cell, block, _) in enumerate(rows):
        design[row, cell] = 1.0
        if block:
            design[row, len(known) + block - 1] = 1.0
    values = sign * np.array([value for _, _, value in rows])
    found, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    effects = np.asarray(found[: len(known)], dtype=np.float64)
    free = len(rows) - int(rank) if rank == design.shape[1] else 0
    noise = float(np.sum((values - design @ found) ** 2)) / free if free else 0.0
    inverse = np.linalg.pinv(design.T @ design)[: len(known), : len(known)]
    own = np.diag(inverse)
    errors: Array = np.sqrt(noise * np.maximum(0.0, own[:, None] + own[None, :] - 2 * inverse))
    return effects, errors, free


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
