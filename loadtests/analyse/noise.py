"""A/A: how often the verdict is wrong for the same setup under two labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite
from statistics import stdev

import numpy as np

from loadtests.analyse import intervals
from loadtests.analyse.compare.within import Comparison, compare
from loadtests.analyse.observations import Observation, Observations, Sample
from loadtests.analyse.verdicts import DELTA, Verdict, verdict

WRONG = (Verdict.FASTER, Verdict.SLOWER)
STUDIES = 500
SEED = 20161108


@dataclass(frozen=True)
class AAReport:
    """``comparisons`` of the labels as they were; ``false_share`` of the relabelled ``studies`` with at least one
    significant verdict; ``spread``: standard deviation of the log ratio by (test, metric), 1.41 times the noise of one
    trial."""

    comparisons: list[Comparison]
    false_share: float
    studies: int
    spread: dict[tuple[str, str], float]

    @property
    def false_verdicts(self) -> list[Comparison]:
        """The comparisons with a significant verdict, although there is no difference."""
        return [one for one in self.comparisons if one.verdict in WRONG]


def aa_report(
    observations: Iterable[Observation],
    delta: float = DELTA,
    studies: int = STUDIES,
) -> AAReport:
    """How often the verdict is wrong where both labels are one setup.

    Labels within a block are exchangeable: all 2 ** (N - 1) relabelled studies of N blocks, or ``studies`` of them
    drawn at random, are judged as the study itself. Raises ValueError without two labels, or a block with both.
    """
    given = list(observations)
    table = Observations(given)
    labels = list(dict.fromkeys(label for _, _, label in table.cells()))
    if len(labels) != 2:
        there = f"there are only those of {', '.join(labels)}" if labels else "there is none"
        raise ValueError(f"an A/A report needs figures of two labels of one setup; {there}")
    samples = {cell: _ratios(row, labels) for cell, row in table.samples.items()}
    blocks = sorted({block for sample in samples.values() for block in sample})
    if not blocks:
        raise ValueError("no block has a figure of both labels")
    swaps = _swaps(len(blocks), studies)
    wrong = sum(_any_wrong([_swapped(sample, blocks, signs) for sample in samples.values()], delta) for signs in swaps)
    return AAReport(
        comparisons=[one for one in compare(given, labels[0], delta) if one.blocks],
        false_share=wrong / len(swaps),
        studies=len(swaps),
        spread={
            cell: stdev(sample.values()) for cell, sample in samples.items() if len(sample) > 1 and _finite(sample)
        },
    )


def _ratios(row: Mapping[str, Sample], labels: Sequence[str]) -> Sample:
    """The log ratios of the second label to the first by block, where at least one is finite."""
    below, above = (row.get(label, {}) for label in labels)
    both = sorted(below.keys() & above.keys())
    return {block: above[block] - below[block] for block in both if min(above[block], below[block]) < inf}


def _finite(sample: Sample) -> bool:
    return all(map(isfinite, sample.values()))


def _swaps(blocks: int, studies: int) -> list[tuple[int, ...]]:
    # Swapping all blocks only reverses every verdict, so the first one stays.
    if blocks <= 1 or 2 ** (blocks - 1) <= studies:
        return [(1, *signs) for signs in product((1, -1), repeat=max(0, blocks - 1))]
    rng = np.random.default_rng(SEED)
    drawn = rng.choice((1, -1), (studies, blocks))
    return [tuple(int(sign) for sign in row) for row in drawn]


def _swapped(sample: Sample, blocks: list[int], signs: tuple[int, ...]) -> list[float]:
    sign = dict(zip(blocks, signs, strict=True))
    return [sign[block] * value for block, value in sample.items()]


def _any_wrong(samples: list[list[float]], delta: float) -> bool:
    found = intervals.simultaneous(samples)
    return any(verdict(np.exp(one.low), np.exp(one.high), delta, more_is_better=False) in WRONG for one in found)
