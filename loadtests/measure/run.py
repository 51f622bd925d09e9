"""Run a study: write each trial to a run folder, which can be read at any time and resumed after an interruption."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Protocol

from loadtests.engines.base import OnSecond
from loadtests.files import from_here
from loadtests.formatting import plural
from loadtests.measure.bench import Bench
from loadtests.measure.contention import ContentionWatch, spoiled_whole
from loadtests.measure.interleaved import OnStep, run_interleaved
from loadtests.measure.observation import PlannedTrial
from loadtests.measure.trial import run_trial
from loadtests.observe.cores import pinned
from loadtests.plan.schedule import Slot, planned_seconds, schedule
from loadtests.plan.study import MAX_TRIALS, Study
from loadtests.records import Second, Trial
from loadtests.records.run.folder import Run
from loadtests.trials.reasons import is_unverified

ATTEMPTS = 2  # an invalid trial is repeated once
REPEATS = 0.1  # the share of a run's time that is reserved for repeats after contention

RunTrial = Callable[[Bench, PlannedTrial, OnSecond], Trial]
RunInterleaved = Callable[[Bench, Sequence[PlannedTrial], OnStep], Generator[Sequence[Trial], None, None]]


class Watcher(Protocol):
    """Receive the events of a run."""

    def doing(self, what: str, seconds: float) -> None:
        """React to the start of a step that takes about ``seconds`` seconds."""

    def second(self, second: Second) -> None:
        """React to the figures of one second of load."""

    def ended(self, trial: Trial, again: bool) -> None:
        """React to a completed trial. ``again`` means that the trial is invalid and will be repeated."""


@dataclasses.dataclass(frozen=True)
class Execution:
    """A prepared run: its folder, its bench, and the functions that run trials.

    Args:
        run: The folder to which the trials are written.
        bench: The context of the trials.
        trial: Runs a single trial.
        interleaved: Runs interleaved trials.
        anyway: Whether to continue despite contention.
        attempts: The allowed number of attempts, by slot number. The default is ATTEMPTS.
    """

    run: Run
    bench: Bench
    trial: RunTrial = run_trial
    interleaved: RunInterleaved = run_interleaved
    anyway: bool = False
    attempts: Mapping[int, int] = dataclasses.field(default_factory=dict)

    @property
    def study(self) -> Study:
        return self.run.record.study

    @property
    def order(self) -> tuple[Slot, ...]:
        """The trials that are planned so far, in order."""
        return self.run.record.order

    @property
    def blocks(self) -> int:
        """The number of blocks that are planned so far."""
        return len({slot.block for slot in self.order})

    def attempts_of(self, slot: Slot) -> int:
        return self.attempts.get(slot.number, ATTEMPTS)

    @property
    def seconds(self) -> float:
        """The estimated duration of the remaining run in seconds, including repeats."""
        measured = {trial.number for trial in self.run.trials()} - self.attempts.keys()
        return (1 + REPEATS) * planned_seconds(self.study, [slot for slot in self.order if slot.number not in measured])

    @property
    def headline(self) -> str:
        """A description of the run: its title, number of trials, estimated duration and folder."""
        record = self.run.record
        trials = f"{plural(len(self.order), 'trial')} in {plural(self.blocks, 'block')}"
        where = from_here(self.run.path)
        lines = [self.study.title, f"{trials}, about {self.seconds / 60:.1f} minutes, into {where}"]
        for one in record.left_out:
            lines.append(f"skipped: {one.label}{f', {one.test}' if one.test else ''}: {one.why}")
        for about in (record.application, record.servers):
            lines += [f"note: {remark}" for remark in (about.remarks if about else ())]
        return "\n".join(lines)


def execute(execution: Execution, watcher: Watcher, imprecision: Callable[[Run], float]) -> None:
    """Run the trials that have not run yet.

    Each trial is written before the next trial starts, so no measurement is lost if the run ends early.

    Args:
        execution: The prepared run.
        watcher: Receives the events of the run.
        imprecision: Returns half the width of the run's widest interval as a share of its ratio. With a goal, blocks
            are added while the intervals are wider.

    Raises:
        TooBusy: If contention continues (see ``loadtests.measure.contention``), unless the run ignores contention.
    """
    run = execution.run
    run.update(ended=None)
    # This process must not use the servers' cores. Its child processes are pinned to cores when they start.
    with pinned(execution.bench.cores.generator[0]):
        TrialRunner(execution, watcher).run()
        while _lacks_blocks(run, imprecision):
            _add_blocks(run)
            TrialRunner(execution, watcher).run()
    run.update(ended=now())


def now() -> str:
    """Return the current time in run.json's format."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class TrialRunner:
    """Run the missing trials of a run, block after block, and write each trial to the run folder."""

    def __init__(self, execution: Execution, watcher: Watcher) -> None:
        self.execution = execution
        self.watcher = watcher
        self._entries = {entry.label: entry for entry in execution.study.entries}
        self._tests = {test.name: test for test in execution.study.tests}
        trials = execution.run.trials()
        self._last = {trial.number: trial for trial in trials}  # a repeated trial replaces its first attempt
        self._valid = {trial.number for trial in trials if trial.valid}
        self._done = {(trial.number, trial.attempt) for trial in trials}
        self._contention = ContentionWatch(len(self._entries), execution.bench.host.top_processes)
        self._written_at = time.monotonic()

    def run(self) -> None:
        """Run the trials.

        Invalid trials are repeated at the end of their block, unless contention disturbed the whole block.

        Raises:
            TooBusy: If contention continues.
        """
        execution = self.execution
        for _, slots in itertools.groupby(execution.order, key=lambda slot: slot.block):
            block = list(slots)
            for attempt in range(1, max(map(execution.attempts_of, block)) + 1):
                lacking = [slot for slot in block if self._lacks(slot, attempt)]
                if self._spoiled_whole(block):
                    lacking = [slot for slot in lacking if not self._is_spoiled(slot, attempt)]
                self._attempt(lacking, attempt)
            if not execution.anyway and self._spoiled_whole(block):
                self._contention.require_calm()

    def _is_spoiled(self, slot: Slot, attempt: int) -> bool:
        """Return whether an attempt repeats a trial because of contention.

        The first attempt after resuming isn't a repeat.
        """
        again = attempt > self.execution.attempts_of(slot) - ATTEMPTS + 1
        return again and slot.number in self._last and is_unverified(self._last[slot.number].flags)

    def _spoiled_whole(self, block: Sequence[Slot]) -> bool:
        return spoiled_whole(self._last.get(slot.number) for slot in block)

    def _lacks(self, slot: Slot, attempt: int) -> bool:
        allowed = attempt <= self.execution.attempts_of(slot) and slot.number not in self._valid
        return allowed and (slot.number, attempt) not in self._done

    def _attempt(self, slots: Sequence[Slot], attempt: int) -> None:
        """Run an attempt of the trials in ``slots``, which belong to the same block."""
        execution = self.execution
        trials = [PlannedTrial(slot, self._entries[slot.label], self._tests[slot.test], attempt) for slot in slots]
        interleaved = [one for one in trials if execution.study.interleaved(one.test)]
        self._written_at = time.monotonic()

        def on_step(what: str, seconds: float) -> None:
            # The planned duration doesn't include repeats, so repeats are announced without a duration.
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
        """Write completed trials to the run folder.

        Raises:
            TooBusy: If contention prevents further measurements.
        """
        run = self.execution.run
        for trial in trials:
            run.save_trial(trial)
            self._done.add((trial.number, trial.attempt))
            self._last[trial.number] = trial
            if trial.valid:
                self._valid.add(trial.number)
        if run.record.goal:  # a resumed run needs the measured time
            run.update(measured_s=run.record.measured_s + time.monotonic() - self._written_at)
        self._written_at = time.monotonic()
        for trial in trials:
            last = self.execution.attempts.get(trial.number, ATTEMPTS)
            again = not trial.valid and trial.attempt < last and not is_unverified(trial.flags)
            self.watcher.ended(trial, again=again)
        if not self.execution.anyway:
            for trial in trials:
                self._contention.add(trial)


def _lacks_blocks(run: Run, imprecision: Callable[[Run], float]) -> bool:
    """Return whether an interval is wider than the goal.

    Return False if the time limit or MAX_TRIALS doesn't allow more blocks.
    """
    goal, study = run.record.goal, run.record.study
    if goal is None or imprecision(run) <= goal.until:
        return False
    longer = dataclasses.replace(study, blocks=study.blocks + 2)
    return run.record.measured_s < goal.max_time_s and longer.most_trials <= MAX_TRIALS


def _add_blocks(run: Run) -> None:
    """Append a pair of blocks, with mirrored orders, to the order of the run."""
    record = run.record
    longer = dataclasses.replace(record.study, blocks=record.study.blocks + 2 - record.study.blocks % 2)
    run.update(study=longer, order=tuple(schedule(longer, record.seed, record.places_left_out)))
