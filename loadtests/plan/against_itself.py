"""The study in which a setup meets itself under a second label: all that it finds is noise."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests import setups
from loadtests.errors import require_within
from loadtests.plan import study as studies
from loadtests.plan.study import Entry, Study
from loadtests.toml import duration as seconds

TESTS_OF = "first-look"


def against_itself(name: str, blocks: int, duration: str | None = None) -> Study:
    """The tests of first-look, on one setup under two labels. ``duration`` is how long each is measured ("20s"), as
    long as in first-look where there is none. Raises UserError for an unknown setup and for what is no duration.
    """
    [setup] = setups.find([name])
    require_within("--blocks", blocks, 2, studies.MOST_BLOCKS)
    study = studies.load(TESTS_OF)
    times: dict[str, Any] = {} if duration is None else {"duration_s": seconds(duration)}
    return dataclasses.replace(
        study,
        tests=tuple(dataclasses.replace(test, **times) for test in study.tests),
        name=f"aa-{setup.name}",
        title=f"{setup.label} against itself",
        question="What does this machine report where there is no difference?",
        baseline=setup.name,
        entries=(Entry(setup.name, setup.name, {}),),
        blocks=blocks,
    ).with_twin()
