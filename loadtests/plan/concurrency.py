"""Choose the setups that run at the same time, if the machine doesn't have enough memory for all setups of a block.

The setups are divided into groups, and each group contains the baseline, so that compared setups are still measured
side by side. Each block measures one group. Figures are compared within a block, and a setup has no figures in blocks
of other groups.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence

from loadtests.plan.study import MIN_AT_ONCE, Study

# The share of the free memory for idle setups. Under load, the setups need the rest.
SHARE = 0.5


def deal(study: Study, generator: random.Random) -> list[list[str]]:
    """Divide the labels at random into groups of nearly equal size, each with the baseline."""
    labels = [entry.label for entry in study.entries]
    if study.groups == 1:
        return [labels]
    others = [label for label in labels if label != study.baseline]
    generator.shuffle(others)
    return [[study.baseline, *others[first :: study.groups]] for first in range(study.groups)]


def fitting(study: Study, memory_mb: Mapping[str, float], free_mb: float) -> Study:
    """Limit the number of setups that run at the same time to the free memory.

    If not even two setups fit, all setups are measured one after the other. If only some setups fit, a study can
    usually be divided into groups. But a sweep can't, because its cells are compared as a whole, and a study of pairs
    can't, because a group might contain only one setup of a pair. The setups of these two kinds of studies are measured
    one after the other.

    Args:
        study: The study to limit.
        memory_mb: The memory of each setup in MB, by label.
        free_mb: The free memory in MB.

    Returns:
        The same study if all the setups that it runs at the same time fit. Otherwise, a limited study.
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
    """Return how many setups fit into the memory, counted from the start of ``sizes_mb``."""
    taken = 0.0
    for number, size in enumerate(sizes_mb):
        taken += size
        if taken > room_mb or math.isnan(taken):
            return number
    return len(sizes_mb)
