"""The study in which a setup meets itself under a second label: all that it finds is noise."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests import setups
from loadtests.errors import require_within
from loadtests.plan import study as studies
from loadtests.plan.schedule import within
from loadtests.plan.study import Entry, Study
from loadtests.records.toml import duration as seconds

TESTS_OF = "first-look"
BLOCKS = 10


def against_itself(
    name: str, blocks: int | None = None, duration: str | None = None, minutes: float | None = None
) -> Study:
    """The tests of first-look, on one setup under two labels, in ``blocks`` blocks (BLOCKS where none are given) or in
    as many as take ``minutes``. ``duration`` is how long each is measured ("20s"), as long as in first-look where there
    is none. Raises UserError for an unknown setup, and for what is no duration or not long enough.
    """
    [setup] = setups.find([name])
    blocks = BLOCKS if blocks is None else blocks
    require_within("--blocks", blocks, 2, studies.MOST_BLOCKS)
    study = studies.load(TESTS_OF)
    times: dict[str, Any] = {} if duration is None else {"duration_s": seconds(duration)}
    study = dataclasses.replace(
        study,
        tests=tuple(dataclasses.replace(test, **times) for test in study.tests),
        name=f"aa-{setup.name}",
        title=f"{setup.label} against itself",
        question="What does this machine report where there is no difference?",
        baseline=setup.name,
        entries=(Entry(setup.name, setup.name, {}),),
        blocks=blocks,
    ).with_twin()
    return study if minutes is None else within(study, minutes)
