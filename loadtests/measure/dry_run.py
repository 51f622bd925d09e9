"""What a run would be: all that is settled before anything is started or written."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure.bench import BenchOf, bench
from loadtests.measure.prepare import free_folder, servable
from loadtests.observe.cores import Cores
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import Study
from loadtests.records.run import folder
from loadtests.records.run.run_record import Goal, LeftOut
from loadtests.setups import Setup
from loadtests.setups.application import project, sample


@dataclasses.dataclass(frozen=True)
class Outlook:
    """A run that is not begun: what would be measured, on which cores, under which knobs, in which order and into which
    folder. Without a ``seed`` the order is only one of those it may have. ``problem`` is why the run would not begin;
    None where, as far as can be told, it would."""

    study: Study
    setups: dict[str, Setup]
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...]
    goal: Goal | None
    seed: int | None
    order: tuple[Slot, ...]
    knobs: dict[str, str]
    cores: Cores
    folder: Path
    problem: str | None

    @property
    def blocks(self) -> int:
        """How many blocks the order has."""
        return len({slot.block for slot in self.order})

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return planned_seconds(self.study, self.order)


def outlook(
    study: Study,
    output: Path | None,
    seed: int | None,
    goal: Goal | None = None,
    own: project.Options | None = None,
    bench_of: BenchOf = bench,
) -> Outlook:
    """What ``prepare.prepare`` would make of the same, as far as it is known without serving anything and without
    loading a project of the user's. Raises UserError where nothing could be measured."""
    found = project.unloaded(own) if own else project.Found(sample(), (), {})
    made = bench_of(study, found.application)
    study, left_out = servable(study, made)
    partly = {(one.label, one.test) for one in left_out if one.test is not None}
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    problem = None
    try:
        if output is not None:
            folder.require_new(output)
        made.require(study)
    except UserError as error:
        problem = str(error)
    return Outlook(
        study=study,
        setups=made.setups,
        left_out=left_out,
        remarks=found.remarks,
        goal=goal,
        seed=seed,
        order=tuple(schedule(study, seed or 0, partly)),
        knobs=setups.given(),
        cores=made.cores,
        folder=output or free_folder(f"{today}-{study.name}"),
        problem=problem,
    )
