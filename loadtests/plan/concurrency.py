"""Which setups of a block run at once, where the machine's memory does not hold all of them.

They are dealt into groups, and the baseline is in each: what is compared is still measured side by side. A block is
then one group; figures of the same block are compared, as ever, and a setup that was not in it has none there.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence

from loadtests.plan.study import LEAST_AT_ONCE, Study

# What the setups may take of the memory that is free; the rest is for what they take under load.
SHARE = 0.5


def deal(study: Study, generator: random.Random) -> list[list[str]]:
    """The labels of each group, of as even a size as can be; which are together is left to the generator."""
    labels = [entry.label for entry in study.entries]
    if study.groups == 1:
        return [labels]
    others = [label for label in labels if label != study.baseline]
    generator.shuffle(others)
    return [[study.baseline, *others[first :: study.groups]] for first in range(study.groups)]


def fitting(study: Study, memory_mb: Mapping[str, float], free_mb: float) -> Study:
    """The study with as many of its setups at once as free memory holds; ``memory_mb`` is what each takes, by label.

    Where not even two are held, in a sweep, whose cells are compared as a whole, and in a study of pairs, of which a
    group might have one half, they are measured one after the other. As it is where all are held, or where it says that
    fewer are to run at once.
    """
    if not study.interleave or len(study.entries) < LEAST_AT_ONCE:
        return study
    room_mb = free_mb * SHARE - memory_mb[study.baseline]
    largest = sorted((memory_mb[entry.label] for entry in study.entries if entry.label != study.baseline), reverse=True)
    most = 1 + _how_many(largest, room_mb)
    if most >= (study.at_once or len(study.entries)):
        return study
    if most < LEAST_AT_ONCE or study.sweep is not None or study.in_pairs:
        return dataclasses.replace(study, interleave=False, at_once=0)
    return dataclasses.replace(study, at_once=most)


def _how_many(sizes_mb: Sequence[float], room_mb: float) -> int:
    """How many there is room for, whichever they are."""
    taken = 0.0
    for number, size in enumerate(sizes_mb):
        taken += size
        if taken > room_mb or math.isnan(taken):
            return number
    return len(sizes_mb)
