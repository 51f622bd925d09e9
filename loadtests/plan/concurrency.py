"""Choose the setups of a block that run at the same time, if the machine doesn't have enough memory for all of them.

The setups are dealt into groups, and each group contains the baseline, so compared setups are still measured side by
side. A block then measures one group. Figures are compared within a block. A setup that wasn't in the block has no
figure for it.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence

from loadtests.plan.study import MIN_AT_ONCE, Study

# The share of the free memory for the idle setups. They need the rest under load.
SHARE = 0.5


def deal(study: Study, generator: random.Random) -> list[list[str]]:
    """Deal the labels into groups of nearly equal size. The generator decides which setups are together."""
    labels = [entry.label for entry in study.entries]
    if study.groups == 1:
        return [labels]
    others = [label for label in labels if label != study.baseline]
    generator.shuffle(others)
    return [[study.baseline, *others[first :: study.groups]] for first in range(study.groups)]


def fitting(study: Study, memory_mb: Mapping[str, float], free_mb: float) -> Study:
    """Limit the number of setups that run at the same time to the free memory.

    If not even two setups fit, they are measured one after the other. The same applies to a sweep, because its cells
    are compared as a whole, and to a study of pairs, because a group might contain only one of a pair.

    Args:
        study: The study.
        memory_mb: The memory of each setup, by label.
        free_mb: The free memory.

    Returns:
        The study itself if all setups fit, or if it already limits the number enough, or else a limited study.
    """
    if not study.interleave or len(study.entries) < MIN_AT_ONCE:
        return study
    room_mb = free_mb * SHARE - memory_mb[study.baseline]
    largest = sorted((memory_mb[entry.label] for entry in study.entries if entry.label != study.baseline), reverse=True)
    most = 1 + _how_many(largest, room_mb)
    if most >= (study.at_once or len(study.entries)):
        return study
    if most < MIN_AT_ONCE or study.sweep is not None or study.in_pairs:
        return dataclasses.replace(study, interleave=False, at_once=0)
    return dataclasses.replace(study, at_once=most)


def _how_many(sizes_mb: Sequence[float], room_mb: float) -> int:
    """Return how many of the sizes fit if the largest come first."""
    taken = 0.0
    for number, size in enumerate(sizes_mb):
        taken += size
        if taken > room_mb or math.isnan(taken):
            return number
    return len(sizes_mb)
