"""Runs a study: trial after trial into a run folder, which can be read and resumed at any moment."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from enum import Enum
from typing import Protocol

from loadtests.analyse.compare.within import widest_interval
from loadtests.analyse.reasons import is_setups_own, is_unverified
from loadtests.analyse.results import Results
from loadtests.engines.base import OnSecond
from loadtests.formatting import plural
from loadtests.measure.bench import Bench
from loadtests.measure.contention import ContentionWatch, spoiled_whole
from loadtests.measure.interleaved import OnStep, run_interleaved
from loadtests.measure.observation import PlannedTrial
from loadtests.measure.trial import run_trial
from loadtests.observe.cores import pinned
from loadtests.plan.kinds.base import START_S
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import MOST_TRIALS, Study
from loadtests.records import Second, Trial
from loadtests.records.run.folder import Run

ATTEMPTS = 2  # an invalid trial is repeated once
REPEATS = 0.1  # of a run's time, for what contention spoils: announced, and not exceeded

RunTrial = Callable[[Bench, PlannedTrial, OnSecond], Trial]
RunInterleaved = Callable[[Bench, Sequence[PlannedTrial], OnStep], Generator[Sequence[Trial], None, None]]


class Watcher(Protocol):
    """Follows a run."""

    def doing(self, what: str, seconds: float) -> None:
        """A step begins that takes about ``seconds``."""

    def second(self, second: Second) -> None:
        """A second of load went by."""

    def ended(self, trial: Trial, again: bool) -> None:
        """A trial was written; ``again`` where it is invalid and will be repeated."""

    def block_ended(self, block: int) -> None:
        """A block was measured, with what is repeated of it."""


@dataclasses.dataclass(frozen=True)
class Execution:
    """A run that is about to go on: its folder, its bench, and how trials are made.

    Contention ends it early unless it goes on ``anyway``. ``attempts`` overrides ATTEMPTS by slot number. ``start_s``:
    how long a setup takes to start here and now.
    """

    run: Run
    bench: Bench
    trial: RunTrial = run_trial
    interleaved: RunInterleaved = run_interleaved
    anyway: bool = False
    attempts: Mapping[int, int] = dataclasses.field(default_factory=dict)
    start_s: float = START_S

    @property
    def study(self) -> Study:
        return self.run.record.study

    @property
    def order(self) -> tuple[Slot, ...]:
        """The order of trials, as far as it is fixed."""
        return self.run.record.order

    @property
    def blocks(self) -> int:
        """The number of blocks in the order, as far as it is fixed."""
        return len({slot.block for slot in self.order})

    def attempts_of(self, slot: Slot) -> int:
        return self.attempts.get(slot.number, ATTEMPTS)

    @property
    def seconds(self) -> float:
        """About how long the rest of it takes, with repeats."""
        measured = {trial.number for trial in self.run.trials()} - self.attempts.keys()
        return (1 + REPEATS) * self.seconds_of([slot for slot in self.order if slot.number not in measured])

    def seconds_of(self, slots: Sequence[Slot]) -> float:
        """About how long some trials take."""
        return planned_seconds(self.study, slots, self.start_s)

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
        for about in (record.application, record.servers, *record.service_hosts):
            lines += [f"note: {remark}" for remark in (about.remarks if about else ())]
        return "\n".join(lines)


class RunOutcome(Enum):
    """What a run has of every setup in every test: a valid trial, figures that may be unverified, or not even that."""

    VALID = "valid"
    UNVERIFIED = "unverified"
    FAILED = "failed"


def execute(execution: Execution, watcher: Watcher) -> RunOutcome:
    """Runs the trials that have not been run; returns the outcome.

    Each trial is written before the next begins, so whatever ends the run, what was measured is kept.
    Raises TooBusy (``loadtests.measure.contention``), unless it goes on anyway.
    """
    run = execution.run
    run.update(ended=None)
    # This process, too, keeps off the servers' cores; what it starts is put where it belongs when it is started.
    with pinned(execution.bench.cores.generator[0]):
        TrialRunner(execution, watcher).run()
        while _lacks_blocks(run):
            _add_blocks(run)
            TrialRunner(execution, watcher).run()
    run.update(ended=now())
    return outcome(execution)


def now() -> str:
    """This moment, as run.json writes it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def outcome(execution: Execution) -> RunOutcome:
    """The outcome of what was run: FAILED also where a setup failed (``loadtests.analyse.reasons.SETUPS_OWN``), repeat
    included."""
    last = {trial.number: trial for trial in execution.run.trials()}  # in order: the repeat takes the first one's place
    if any(is_setups_own(trial.flags) for trial in last.values()):
        return RunOutcome.FAILED
    cells = Results(execution.run).cells
    measured = [cells[place] for place in dict.fromkeys((slot.label, slot.test) for slot in execution.order)]
    if all(cell.valid for cell in measured):
        return RunOutcome.VALID
    return RunOutcome.UNVERIFIED if all(cell.valid or cell.unverified for cell in measured) else RunOutcome.FAILED


class TrialRunner:
    """Runs the trials that a run lacks, block after block, and writes each."""

    def __init__(self, execution: Execution, watcher: Watcher) -> None:
        self.execution = execution
        self.watcher = watcher
        self._entries = {entry.label: entry for entry in execution.study.entries}
        self._tests = {test.name: test for test in execution.study.tests}
        trials = execution.run.trials()
        self._last = {trial.number: trial for trial in trials}  # in order: the repeat takes the first one's place
        self._valid = {trial.number for trial in trials if trial.valid}
        self._done = {(trial.number, trial.attempt) for trial in trials}
        self._contention = ContentionWatch(len(self._entries), execution.bench.host.top_processes)
        self._written_at = time.monotonic()
        self._over_at = self._written_at + execution.seconds

    def run(self) -> None:
        """Runs them; what is invalid is repeated when the rest of its block has been measured, unless contention
        spoiled all of the block or the time that was announced would not do. Raises TooBusy."""
        execution = self.execution
        for number, slots in itertools.groupby(execution.order, key=lambda slot: slot.block):
            block, written = list(slots), len(self._done)
            for attempt in range(1, max(map(execution.attempts_of, block)) + 1):
                lacking = [slot for slot in block if self._lacks(slot, attempt)]
                spoiled = [slot for slot in lacking if self._is_spoiled(slot, attempt)]
                if spoiled and not self._repeats(block, spoiled):
                    lacking = [slot for slot in lacking if slot not in spoiled]
                self._attempt(lacking, attempt)
            if len(self._done) > written:
                self.watcher.block_ended(number)
            if not execution.anyway and self._spoiled_whole(block):
                self._contention.require_calm()

    def _is_spoiled(self, slot: Slot, attempt: int) -> bool:
        """Whether an attempt is a repeat of what contention spoiled; the first one after a run was resumed is none."""
        again = attempt > self.execution.attempts_of(slot) - ATTEMPTS + 1
        return again and slot.number in self._last and is_unverified(self._last[slot.number].flags)

    def _repeats(self, block: Sequence[Slot], spoiled: Sequence[Slot]) -> bool:
        """Whether to repeat what contention spoiled of a block."""
        later = [slot for slot in self.execution.order if slot.block > block[0].block]
        takes_s = self.execution.seconds_of(spoiled) + self.execution.seconds_of(later)
        return not self._spoiled_whole(block) and time.monotonic() + takes_s <= self._over_at

    def _spoiled_whole(self, block: Sequence[Slot]) -> bool:
        return spoiled_whole(self._last.get(slot.number) for slot in block)

    def _lacks(self, slot: Slot, attempt: int) -> bool:
        allowed = attempt <= self.execution.attempts_of(slot) and slot.number not in self._valid
        return allowed and (slot.number, attempt) not in self._done

    def _attempt(self, slots: Sequence[Slot], attempt: int) -> None:
        """Runs the trials of some slots of a block."""
        execution = self.execution
        trials = [PlannedTrial(slot, self._entries[slot.label], self._tests[slot.test], attempt) for slot in slots]
        interleaved = [one for one in trials if execution.study.interleaved(one.test)]
        self._written_at = time.monotonic()

        def on_step(what: str, seconds: float) -> None:
            # A repeat is not in the plan: it makes the pace slower.
            self.watcher.doing(what, seconds if attempt == 1 else 0.0)

        if interleaved:
            block = f"block {slots[0].block} of {execution.blocks}"
            tests = execution.interleaved(
                execution.bench, interleaved, lambda what, seconds: on_step(f"{block}: {what}", seconds)
            )
            with contextlib.closing(tests):
                for of_test in tests:
                    self._keep(of_test)
        for one in trials:
            if one not in interleaved:
                on_step(str(one), one.test.planned_s)
                self._keep([execution.trial(execution.bench, one, self.watcher.second)])

    def _keep(self, trials: Sequence[Trial]) -> None:
        """Writes trials. Raises TooBusy where nothing is measured any more."""
        run = self.execution.run
        for trial in trials:
            run.save_trial(trial)
            self._done.add((trial.number, trial.attempt))
            self._last[trial.number] = trial
            if trial.valid:
                self._valid.add(trial.number)
        if run.record.goal:  # a run that is resumed knows how long it has measured
            run.update(measured_s=run.record.measured_s + time.monotonic() - self._written_at)
        self._written_at = time.monotonic()
        for trial in trials:
            last = self.execution.attempts.get(trial.number, ATTEMPTS)
            again = not trial.valid and trial.attempt < last and not is_unverified(trial.flags)
            self.watcher.ended(trial, again=again)
        if not self.execution.anyway:
            for trial in trials:
                self._contention.add(trial)


def _lacks_blocks(run: Run) -> bool:
    """Whether an interval is wider than the goal, and there is time for two more blocks within MOST_TRIALS."""
    goal, study = run.record.goal, run.record.study
    if goal is None or widest_interval(list(Results(run).comparisons.values())) <= goal.until:
        return False
    longer = dataclasses.replace(study, blocks=study.blocks + 2)
    return run.record.measured_s < goal.max_time_s and longer.most_trials <= MOST_TRIALS


def _add_blocks(run: Run) -> None:
    """Adds a mirrored pair of blocks to the end of the order."""
    record = run.record
    longer = dataclasses.replace(record.study, blocks=record.study.blocks + 2 - record.study.blocks % 2)
    run.update(study=longer, order=tuple(schedule(longer, record.seed, record.places_left_out)))
