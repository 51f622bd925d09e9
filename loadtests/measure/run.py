"""Runs a study: trial after trial into a run folder, which can be read and resumed at any moment."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Protocol

from loadtests.analyse.compare.within import widest_interval
from loadtests.analyse.results import Results
from loadtests.analyse.validity import is_setups_own
from loadtests.engines.base import OnSecond
from loadtests.measure.bench import Bench
from loadtests.measure.seen import TrialPlace
from loadtests.measure.trial import run_trial
from loadtests.measure.turns import Doing, run_by_turns
from loadtests.observe.cores import pinned
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import MOST_TRIALS, Study
from loadtests.records import Second, Trial
from loadtests.store import Run
from loadtests.words import plural

ATTEMPTS = 2  # an invalid trial is repeated once

RunTrial = Callable[[Bench, TrialPlace, OnSecond], Trial]
RunByTurns = Callable[[Bench, Sequence[TrialPlace], Doing, OnSecond], Iterable[Trial]]


class Watcher(Protocol):
    """Is told how a run goes."""

    def doing(self, what: str, seconds: float) -> None:
        """Something begins that takes about so many seconds."""

    def second(self, second: Second) -> None:
        """A second of load went by."""

    def ended(self, trial: Trial, again: bool) -> None:
        """A trial was written; ``again`` where it is invalid and will be repeated."""


@dataclasses.dataclass(frozen=True)
class Execution:
    """A run that is about to go on: its folder, the bench it runs on, and what makes a trial, or those of a
    block by turns."""

    run: Run
    bench: Bench
    trial: RunTrial = run_trial
    by_turns: RunByTurns = run_by_turns

    @property
    def study(self) -> Study:
        """What is run."""
        return self.run.record.study

    @property
    def order(self) -> tuple[Slot, ...]:
        """The order of trials, as it is fixed so far."""
        return self.run.record.order

    @property
    def seconds(self) -> float:
        """About how long all of it takes."""
        return planned_seconds(self.study, self.order)

    @property
    def headline(self) -> str:
        """What is run, how long it takes and where it goes."""
        record = self.run.record
        trials = f"{plural(len(self.order), 'trial')} in {plural(self.study.blocks, 'block')}"
        where = os.path.relpath(self.run.path)
        lines = [self.study.title, f"{trials}, about {self.seconds / 60:.1f} minutes, into {where}"]
        for one in record.left_out:
            lines.append(f"skipped: {one.label}{f', {one.test}' if one.test else ''}: {one.why}")
        lines += [f"note: {remark}" for remark in (record.application.remarks if record.application else ())]
        return "\n".join(lines)


def execute(execution: Execution, watcher: Watcher) -> bool:
    """Runs the trials that have not been run; returns whether the run is a success.

    It is not a success where a setup failed (``loadtests.analyse.validity.SETUPS_OWN``), repeat included, or has no
    valid trial at all in some test. A trial that the machine spoiled costs a block and fails nothing. Each trial is
    written before the next begins, so whatever ends this, what was measured is kept.
    """
    run = execution.run
    run.update(ended=None)
    # This process, too, keeps off the servers' cores; what it starts is put where it belongs when it is started.
    with pinned(execution.bench.cores.generator[0]):
        _run_order(execution, watcher)
        goal = run.record.goal
        while goal and _widest(run) > goal.until and run.record.measured_s < goal.max_time_s and _has_room(run):
            _add_blocks(run)
            _run_order(execution, watcher)
    run.update(ended=now())
    return _succeeded(execution)


def now() -> str:
    """This moment, as run.json writes it."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _succeeded(execution: Execution) -> bool:
    last = {trial.number: trial for trial in execution.run.trials()}  # in order: the repeat takes the first one's place
    if any(is_setups_own(trial.flags) for trial in last.values()):
        return False
    measured = {(trial.label, trial.test) for trial in last.values() if trial.valid}
    return all((slot.label, slot.test) in measured for slot in execution.order)


def _run_order(execution: Execution, watcher: Watcher) -> None:
    """Block after block; in each, what is invalid is repeated when the rest of it has been measured."""
    for _, slots in itertools.groupby(execution.order, key=lambda slot: slot.block):
        block = list(slots)
        for attempt in range(1, ATTEMPTS + 1):
            done = {(trial.number, trial.attempt): trial for trial in execution.run.trials()}
            before = [done.get((slot.number, attempt - 1)) for slot in block]
            missing = [
                slot
                for slot, last in zip(block, before, strict=True)
                if (slot.number, attempt) not in done and not (last and last.valid)
            ]
            _run_places(execution, missing, attempt, watcher)


def _run_places(execution: Execution, slots: Sequence[Slot], attempt: int, watcher: Watcher) -> None:
    """The trials of some slots of a block, each written when it is made."""
    study = execution.study
    entries = {entry.label: entry for entry in study.entries}
    tests = {test.name: test for test in study.tests}
    places = [TrialPlace(slot, entries[slot.label], tests[slot.test], attempt) for slot in slots]
    together = [place for place in places if study.by_turns(place.test)]
    begun = time.monotonic()

    def keep(trial: Trial) -> None:
        nonlocal begun
        execution.run.save_trial(trial)
        if execution.run.record.goal:  # how long the run has been measuring is kept, for a run that is resumed
            execution.run.update(measured_s=execution.run.record.measured_s + time.monotonic() - begun)
        begun = time.monotonic()
        watcher.ended(trial, again=not trial.valid and attempt < ATTEMPTS)

    if together:
        with contextlib.closing(_by_turns(execution, together, watcher)) as trials:
            for trial in trials:
                keep(trial)
    for place in places:
        if place not in together:
            watcher.doing(str(place), place.test.planned_s)
            keep(execution.trial(execution.bench, place, watcher.second))


def _by_turns(execution: Execution, places: Sequence[TrialPlace], watcher: Watcher) -> Generator[Trial, None, None]:
    block = f"block {places[0].slot.block} of {execution.study.blocks}"
    again = " (again)" if places[0].attempt > 1 else ""

    def doing(what: str, seconds: float) -> None:
        watcher.doing(f"{block}{again}: {what}", seconds)

    yield from execution.by_turns(execution.bench, places, doing, watcher.second)


def _widest(run: Run) -> float:
    """The widest interval of the run's comparisons, as plus or minus a share; infinite while there is none."""
    return widest_interval(list(Results(run).comparisons.values()))


def _has_room(run: Run) -> bool:
    """Whether two more blocks are no more trials than a run may have."""
    study = run.record.study
    return (study.blocks + 2) * len(study.entries) * len(study.tests) <= MOST_TRIALS


def _add_blocks(run: Run) -> None:
    """Two more blocks, a pair of mirrors, at the end of the order."""
    record = run.record
    longer = dataclasses.replace(record.study, blocks=record.study.blocks + 2 - record.study.blocks % 2)
    run.update(study=longer, order=tuple(schedule(longer, record.seed, record.places_left_out)))
