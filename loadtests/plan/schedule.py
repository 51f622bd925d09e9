"""Create the order of trials, which is shuffled within a block and mirrored in the next block."""

from __future__ import annotations

import dataclasses
import random
import zlib
from collections.abc import Container, Iterable

from loadtests.plan.kinds.base import START_S
from loadtests.plan.study import Study
from loadtests.records.bounds import Name, Ordinal

Place = tuple[str, str]  # A label and the name of a test.
GENERATOR_S = 1.2  # The approximate time until the generator is ready.


@dataclasses.dataclass(frozen=True)
class Slot:
    """The place of a trial in the order: a number and a block (both from 1), the entry's label and the test's name."""

    number: Ordinal
    block: Ordinal
    label: Name
    test: Name

    def load_seed(self, seed: int) -> int:
        """Return the seed of this trial's load. All entries in a test and block of a run have the same seed.

        Args:
            seed: The seed of the run.
        """
        return zlib.crc32(f"{seed} {self.test} {self.block}".encode())


def schedule(study: Study, seed: int, left_out: Container[Place] = ()) -> list[Slot]:
    """Create the order of trials: every entry once for each test and block, except the places in ``left_out``.

    Within a block, the trials of a test follow each other, so that compared trials are close in time. Even blocks
    mirror the block before (ABBA), so that a steady drift of the machine affects all entries equally. The same seed
    gives the same order.
    """
    generator = random.Random(seed)
    slots: list[Slot] = []
    order: list[Place] = []
    for block in range(1, study.blocks + 1):
        order = _shuffled(study, generator) if block % 2 else order[::-1]
        for label, test in order:
            if (label, test) not in left_out:
                slots.append(Slot(len(slots) + 1, block, label, test))
    return slots


def _shuffled(study: Study, generator: random.Random) -> list[Place]:
    found: list[Place] = []
    for test in study.tests:
        labels = [entry.label for entry in study.entries]
        generator.shuffle(labels)
        found += [(label, test.name) for label in labels]
    return found


def planned_seconds(study: Study, order: Iterable[Slot] | None = None) -> float:
    """Estimate the seconds of a study, or of the trials in ``order``.

    The estimate includes the search for rates that aren't known yet.

    Args:
        study: The study that contains the trials.
        order: The trials to estimate, or None for all trials of the study.
    """
    tests = {test.name: test for test in study.tests}
    total = search_seconds(study)
    started, generators = set(), set()
    for slot in schedule(study, 0) if order is None else order:
        test = tests[slot.test]
        if study.interleaved(test):
            total += test.planned_interleaved_s
            started.add((slot.block, slot.label, test.start_options))
            generators.add((slot.block, slot.test))
        else:
            total += test.planned_s + GENERATOR_S
    return total + len(started) * START_S + len(generators) * GENERATOR_S


def search_seconds(study: Study) -> float:
    """Estimate the seconds to find the rates that aren't known yet, or return 0 if all rates are known."""
    searches = {search.name: search for search in study.ceiling_tests.values()}.values()
    if not searches:
        return 0.0
    interleaved_s = sum(search.planned_interleaved_s for search in searches)
    return len(study.entries) * (START_S + interleaved_s) + len(searches) * GENERATOR_S
