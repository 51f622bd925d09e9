"""What a run would be: all that is settled before anything is started or written."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure.bench import Bench, BenchOf, make_bench
from loadtests.measure.prepare import RunOptions, free_folder, servable
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import Study
from loadtests.records.run import folder
from loadtests.records.run.run_record import LeftOut
from loadtests.setups.application import project, sample


@dataclasses.dataclass(frozen=True)
class DryRun:
    """A run that is not begun. Without a seed the order is only one of those it may have. ``problem`` is why the run
    would not begin, as far as that can be known."""

    study: Study
    options: RunOptions
    bench: Bench
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...]
    order: tuple[Slot, ...]
    knobs: dict[str, str]
    folder: Path
    problem: str | None

    @property
    def blocks(self) -> int:
        """The number of blocks in the order."""
        return len({slot.block for slot in self.order})

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return planned_seconds(self.study, self.order)


def plan_run(study: Study, options: RunOptions, bench_of: BenchOf = make_bench) -> DryRun:
    """What ``prepare.prepare`` would make of the same, without serving anything or loading a project of the user's.
    Raises UserError where nothing could be measured."""
    found = project.unloaded(options.own) if options.own else project.Found(sample(), (), {})
    bench = bench_of(study, found.application)
    study, left_out = servable(study, bench)
    partly = {(one.label, one.test) for one in left_out if one.test is not None}
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    problem = None
    try:
        if options.output is not None:
            folder.require_new(options.output)
        bench.require(study)
    except UserError as error:
        problem = str(error)
    return DryRun(
        study=study,
        options=options,
        bench=bench,
        left_out=left_out,
        remarks=found.remarks,
        order=tuple(schedule(study, options.seed or 0, partly)),
        knobs=setups.given(),
        folder=options.output or free_folder(f"{today}-{study.name}"),
        problem=problem,
    )
