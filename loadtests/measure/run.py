"""Runs a study: trial after trial into a run folder, which can be read and resumed at any moment."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Protocol

from loadtests.analyse.compare.within import widest_interval
from loadtests.analyse.reasons import is_setups_own
from loadtests.analyse.results import Results
from loadtests.engines.base import OnSecond
from loadtests.formatting import plural
from loadtests.measure.bench import Bench
from loadtests.measure.contention import SpoiledInARow
from loadtests.measure.interleaved import Progress, run_by_turns
from loadtests.measure.observation import TrialPlace
from loadtests.measure.trial import run_trial
from loadtests.observe.cores import pinned
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import MOST_TRIALS, Study
from loadtests.records import Second, Trial
from loadtests.records.run.folder import Run

ATTEMPTS = 2  # an invalid trial is repeated once

RunTrial = Callable[[Bench, TrialPlace, OnSecond], Trial]
RunByTurns = Callable[[Bench, Sequence[TrialPlace], Progress], Iterable[Sequence[Trial]]]


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
    """A run that is about to go on: its folder, the bench it runs on, and what makes a trial, or those of a block by
    turns.

    It goes on ``anyway``, or ends early where the machine spoils one trial after another. ``attempts`` are how many a
    place in the order has, by its number, where that is not ATTEMPTS.
    """

    run: Run
    bench: Bench
    trial: RunTrial = run_trial
    by_turns: RunByTurns = run_by_turns
    anyway: bool = False
    attempts: Mapping[int, int] = dataclasses.field(default_factory=dict)

    @property
    def study(self) -> Study:
        """What is run."""
        return self.run.record.study

    @property
    def order(self) -> tuple[Slot, ...]:
        """The order of trials, as it is fixed so far."""
        return self.run.record.order

    @property
    def blocks(self) -> int:
        """How many blocks the order has, as it is fixed so far."""
        return len({slot.block for slot in self.order})

    def attempts_of(self, slot: Slot) -> int:
        """How often a place in the order may be tried."""
        return self.attempts.get(slot.number, ATTEMPTS)

    @property
    def seconds(self) -> float:
        """About how long the rest of it takes."""
        measured = {trial.number for trial in self.run.trials()}
        return planned_seconds(self.study, [slot for slot in self.order if slot.number not in measured])

    @property
    def headline(self) -> str:
        """What is run, how long it takes and where it goes."""
        record = self.run.record
        trials = f"{plural(len(self.order), 'trial')} in {plural(self.blocks, 'block')}"
        where = os.path.relpath(self.run.path)
        lines = [self.study.title, f"{trials}, about {self.seconds / 60:.1f} minutes, into {where}"]
        for one in record.left_out:
            lines.append(f"skipped: {one.label}{f', {one.test}' if one.test else ''}: {one.why}")
        if self.study.at_once:
            each = f"{self.study.baseline} among them in each block"
            lines.append(f"note: {self.study.at_once} setups run at once, {each}")
        told = (record.application, record.servers, *record.service_hosts)
        lines += [f"note: {remark}" for one in told if one for remark in one.remarks]
        return "\n".join(lines)


def execute(execution: Execution, watcher: Watcher) -> bool:
    """Runs the trials that have not been run; returns whether the run is a success.

    It is not a success where a setup failed (``loadtests.analyse.reasons.SETUPS_OWN``), repeat included, or has no
    valid trial at all in some test. A trial that the machine spoiled costs a block and fails nothing. Each trial is
    written before the next begins, so whatever ends this, what was measured is kept. Raises TooBusy
    (``loadtests.measure.contention``), unless it is to go on anyway.
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
    going = _Going(execution, watcher)
    for _, slots in itertools.groupby(execution.order, key=lambda slot: slot.block):
        block = list(slots)
        for attempt in range(1, max(map(execution.attempts_of, block)) + 1):
            going.run([slot for slot in block if going.lacks(slot, attempt)], attempt)


class _Going:
    """A run that goes on: what has been written, and whether the machine lets it."""

    def __init__(self, execution: Execution, watcher: Watcher) -> None:
        study = execution.study
        self.execution = execution
        self.watcher = watcher
        self._entries = {entry.label: entry for entry in study.entries}
        self._tests = {test.name: test for test in study.tests}
        self._valid = {trial.number for trial in execution.run.trials() if trial.valid}
        self._done = {(trial.number, trial.attempt) for trial in execution.run.trials()}
        self._spoiled = SpoiledInARow(len(self._entries), execution.bench.host.top_processes)
        self._written_at = time.monotonic()

    def lacks(self, slot: Slot, attempt: int) -> bool:
        """Whether a place in the order is to have this attempt, and has not."""
        wanted = attempt <= self.execution.attempts_of(slot) and slot.number not in self._valid
        return wanted and (slot.number, attempt) not in self._done

    def run(self, slots: Sequence[Slot], attempt: int) -> None:
        """The trials of some slots of a block. Raises TooBusy."""
        execution = self.execution
        places = [TrialPlace(slot, self._entries[slot.label], self._tests[slot.test], attempt) for slot in slots]
        together = [place for place in places if execution.study.interleaved(place.test)]
        self._written_at = time.monotonic()
        if together:
            with contextlib.closing(self._by_turns(together)) as tests:
                for trials in tests:
                    self._keep(trials)
        for place in places:
            if place not in together:
                self.watcher.doing(str(place), place.test.planned_s if attempt == 1 else 0.0)
                self._keep([execution.trial(execution.bench, place, self.watcher.second)])

    def _by_turns(self, places: Sequence[TrialPlace]) -> Generator[Sequence[Trial], None, None]:
        block = f"block {places[0].slot.block} of {self.execution.blocks}"

        def doing(what: str, seconds: float) -> None:
            # A repeat is not in the plan: it makes the pace slower.
            self.watcher.doing(f"{block}: {what}", seconds if places[0].attempt == 1 else 0.0)

        yield from self.execution.by_turns(self.execution.bench, places, doing)

    def _keep(self, trials: Sequence[Trial]) -> None:
        """Writes what was measured. Raises TooBusy where it makes no sense to go on."""
        run = self.execution.run
        for trial in trials:
            run.save_trial(trial)
            self._done.add((trial.number, trial.attempt))
            if trial.valid:
                self._valid.add(trial.number)
        if run.record.goal:  # how long the run has been measuring is kept, for a run that is resumed
            run.update(measured_s=run.record.measured_s + time.monotonic() - self._written_at)
        self._written_at = time.monotonic()
        for trial in trials:
            last = self.execution.attempts.get(trial.number, ATTEMPTS)
            self.watcher.ended(trial, again=not trial.valid and trial.attempt < last)
        if not self.execution.anyway:
            for trial in trials:
                self._spoiled.written(trial)


def _widest(run: Run) -> float:
    """The widest interval of the run's comparisons, as plus or minus a share; infinite while there is none."""
    return widest_interval(list(Results(run).comparisons.values()))


def _has_room(run: Run) -> bool:
    """Whether two more blocks are no more trials than a run may have."""
    study = run.record.study
    return dataclasses.replace(study, blocks=study.blocks + 2).most_trials <= MOST_TRIALS


def _add_blocks(run: Run) -> None:
    """Two more blocks, a pair of mirrors, at the end of the order."""
    record = run.record
    longer = dataclasses.replace(record.study, blocks=record.study.blocks + 2 - record.study.blocks % 2)
    run.update(study=longer, order=tuple(schedule(longer, record.seed, record.places_left_out)))
