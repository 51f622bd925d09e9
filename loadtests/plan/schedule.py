"""Create the order of trials, which is shuffled within a block and mirrored in the next block."""

from __future__ import annotations

import dataclasses
import math
import random
import zlib
from collections.abc import Container, Iterable

from loadtests.errors import UserError, require_within
from loadtests.formatting import plural
from loadtests.plan.concurrency import deal
from loadtests.plan.kinds.base import START_S
from loadtests.plan.study import MAX_BLOCKS, Study
from loadtests.records.bounds import Name, Ordinal

MIN_BLOCKS = 2
MAX_MINUTES = 7 * 24 * 60
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
    mirror the block before (ABBA), so that a steady drift of the machine affects all entries equally. If not all setups
    run at once, each group of setups is a block that contains the baseline. The same seed gives the same order.
    """
    generator = random.Random(seed)
    slots: list[Slot] = []
    orders: list[list[Place]] = []
    block = 0
    for again in range(study.blocks):
        mirrored = [order[::-1] for order in orders[::-1]]
        orders = mirrored if again % 2 else _orders(study, generator, left_out)
        for order in orders:
            block += 1
            slots += [Slot(len(slots) + i, block, label, test) for i, (label, test) in enumerate(order, start=1)]
    return slots


def _orders(study: Study, generator: random.Random, left_out: Container[Place]) -> list[list[Place]]:
    """Return the shuffled entries and tests of each group.

    If a test isn't interleaved, one group contains all entries.
    """
    groups = deal(study, generator)
    orders: list[list[Place]] = [[] for _ in groups]
    for test in study.tests:
        parts = groups if study.interleaved(test) else [[entry.label for entry in study.entries]]
        for order, part in zip(orders, parts, strict=False):
            labels = list(part)
            generator.shuffle(labels)
            order += [place for label in labels if (place := (label, test.name)) not in left_out]
    return orders


def planned_seconds(study: Study, order: Iterable[Slot] | None = None, start_s: float = START_S) -> float:
    """Estimate the seconds of a study, or of the trials in ``order``.

    The estimate includes the search for rates that aren't known yet.

    Args:
        study: The study that contains the trials.
        order: The trials to estimate, or None for all trials of the study.
        start_s: The seconds to start a setup.
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
            total += test.planned_s + start_s - START_S + GENERATOR_S
    return total + len(started) * start_s + len(generators) * GENERATOR_S


def search_seconds(study: Study) -> float:
    """Estimate the seconds to find the rates that aren't known yet, or return 0 if all rates are known."""
    searches = {search.name: search for search in study.ceiling_tests.values()}.values()
    if not searches:
        return 0.0
    interleaved_s = sum(search.planned_interleaved_s for search in searches)
    return len(study.entries) * (START_S + interleaved_s) + len(searches) * GENERATOR_S


def within(study: Study, minutes: float) -> Study:
    """Limit the number of blocks so that the study takes at most this number of minutes.

    Raises:
        UserError: If two blocks take longer. A single block isn't enough, because it can't show the noise.
    """
    require_within("--minutes", minutes, 0, MAX_MINUTES)
    search_s = search_seconds(study)
    block_s = planned_seconds(dataclasses.replace(study, blocks=1)) - search_s
    blocks = min(MAX_BLOCKS, int((minutes * 60 - search_s) / block_s))
    if blocks < MIN_BLOCKS:
        least = math.ceil((MIN_BLOCKS * block_s + search_s) / 6) / 10
        few = f"{plural(MIN_BLOCKS, 'block')} of {study.name} take {least:g} minutes"
        raise UserError(f"--minutes {minutes:g}: {few}, and one block doesn't show the noise. Try --minutes {least:g}")
    study = dataclasses.replace(study, blocks=blocks)
    study.require_feasible(f"--minutes {minutes:g}")
    return study
