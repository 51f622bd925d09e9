"""Runs a study: trial after trial into a run folder, which can be read and resumed at any moment."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any, Protocol

from loadtests import engines, store
from loadtests.errors import UserError
from loadtests.observe import cores, machine
from loadtests.plan import study as studies
from loadtests.plan.schedule import Slot, schedule
from loadtests.plan.study import Study
from loadtests.serve import setups
from loadtests.serve.serving import require_free
from loadtests.trial import Bench, run_trial

ATTEMPTS = 2  # an invalid trial is repeated once


class Watcher(Protocol):
    """Is told how a run goes."""

    def started(self, slot: Slot, attempt: int, trials: int) -> None:
        """A trial begins."""

    def second(self, row: dict[str, Any]) -> None:
        """A second of load went by; ``row`` is that second of the timeline."""

    def ended(self, trial: store.Trial, again: bool) -> None:
        """A trial was written; ``again`` where it is invalid and will be repeated."""


@dataclasses.dataclass(frozen=True)
class Execution:
    """A run that is about to go on: its folder, its study, and the bench it runs on."""

    run: store.Run
    study: Study
    bench: Bench

    @property
    def order(self) -> list[Slot]:
        """The order of trials, as it was fixed when the run was made."""
        return [Slot(**slot) for slot in self.run.about["order"]]

    @property
    def seconds(self) -> float:
        """About how long all of it takes."""
        return studies.planned_seconds(self.study)

    @property
    def headline(self) -> str:
        """What is run, how long it takes and where it goes."""
        trials = f"{len(self.order)} trials in {self.study.blocks} blocks"
        where = os.path.relpath(self.run.path)
        return f"{self.study.title}\n{trials}, about {self.seconds / 60:.1f} minutes, into {where}"


def prepare(study: str, output: Path | None, seed: int | None, resume: Path | None) -> Execution:
    """Makes the run folder of the study of that name, or opens the one to resume.

    All that can be known to be wrong before the first trial raises UserError here, and nothing is written then.
    """
    if bool(study) == bool(resume):
        raise UserError(f"name either a study ({', '.join(studies.names())}) or a run folder with --resume")
    run = store.Run.open(resume) if resume else None
    what = studies.from_dict(run.about["study"]) if run else studies.load(study)
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in what.entries)}
    bench = Bench(setups.host(), setups.port(), cores.allot(os.environ.get("CORES")), known)
    require_free(bench.host, bench.port)
    for test in what.tests:
        engines.get(test.engine).require()
    return Execution(run or _new_run(what, output, seed, bench), what, bench)


def execute(execution: Execution, watcher: Watcher) -> bool:
    """Runs the trials that have not been run; returns whether every place in the order has a valid one.

    Each trial is written before the next begins, so whatever ends this, what was measured is kept.
    """
    run, what = execution.run, execution.study
    # This process, too, keeps off the servers' cores; what it starts is put where it belongs when it is started.
    os.sched_setaffinity(0, execution.bench.cores.generator)
    entries = {entry.label: entry for entry in what.entries}
    tests = {test.name: test for test in what.tests}
    done = {(trial.number, trial.attempt): trial for trial in run.trials()}
    every_one_valid = True
    for slot in execution.order:
        for attempt in range(1, ATTEMPTS + 1):
            trial = done.get((slot.number, attempt))
            if trial is None:
                watcher.started(slot, attempt, len(execution.order))
                entry, test = entries[slot.label], tests[slot.test]
                trial = run_trial(execution.bench, slot, entry, test, attempt, watcher.second)
                run.save_trial(trial)
                watcher.ended(trial, again=trial.status != "ok" and attempt < ATTEMPTS)
            if trial.status == "ok":
                break
        else:
            every_one_valid = False
    run.about["ended"] = _now()
    run.save_about()
    return every_one_valid


def _new_run(study: Study, folder: Path | None, seed: int | None, bench: Bench) -> store.Run:
    if seed is None:
        seed = secrets.randbelow(2**32)
    created = _now()
    return store.Run.create(
        folder or _free_folder(f"{created[:10]}-{study.name}"),
        {
            "name": study.name,
            "created": created,
            "command": shlex.join(["python", "-m", "loadtests", *sys.argv[1:]]),
            "study": study.to_dict(),
            "setups": {
                entry.label: {
                    "label": bench.setups[entry.setup].label,
                    "interface": bench.setups[entry.setup].interface,
                    "config": bench.setups[entry.setup].file.read_text(encoding="utf-8"),
                }
                for entry in study.entries
            },
            "seed": seed,
            "order": [slot.to_dict() for slot in schedule(study, seed)],
            "knobs": {name: os.environ[name] for name in setups.KNOBS if name in os.environ},
            "cores": bench.cores.to_dict(),
            "machine": machine.describe(),
            "versions": machine.versions(),
            "git": machine.git(),
        },
    )


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _free_folder(name: str) -> Path:
    folder = store.RESULTS / name
    number = 2
    while folder.exists():
        folder = store.RESULTS / f"{name}-{number}"
        number += 1
    return folder
