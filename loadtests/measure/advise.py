"""Search for good knobs: run rounds of short trials until successive halving has found the best candidate."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from math import prod
from typing import Any

from loadtests import hosts, setups
from loadtests.analyse.overload import FAILED, failed_share
from loadtests.analyse.readings import delay_note
from loadtests.analyse.reasons import is_setups_own
from loadtests.errors import UserError, require_within
from loadtests.formatting import plural, series
from loadtests.measure import prepare as preparing
from loadtests.measure import run as runs
from loadtests.measure.bench import BenchOf, make_bench
from loadtests.measure.prepare import RunOptions
from loadtests.measure.run import Execution, Watcher
from loadtests.measure.searches import halving
from loadtests.measure.searches.halving import Halving
from loadtests.plan import study as studies
from loadtests.plan.metrics import Metric
from loadtests.plan.percentiles import requests_needed
from loadtests.plan.schedule import planned_seconds, schedule
from loadtests.plan.study import Study
from loadtests.plan.sweep import Sweep
from loadtests.records import Advice, AdviceOutcome, Round
from loadtests.records.run.folder import Run
from loadtests.setups import Setup
from loadtests.setups.application.progress import Announce, silent
from loadtests.workload.load import MAX_RATE

DURATION_S = 2.0
WARMUP_S = 0.5
FEWEST_CONNECTIONS = 10
LOWEST_RATE = 0.1  # at a lower rate, measuring a 99th percentile takes hours
THREADS = ("1", "2", "4", "8")
FINE = 4  # every number of workers up to 4 is a candidate, and larger numbers grow by about a third
# With 4 blocks in the first round, 98 of 100 simulated searches found a candidate within 5% of the best
# (docs/simulations).
MAX_FIRST_BLOCKS = 4


@dataclasses.dataclass(frozen=True)
class KnobSearch:
    """A planned search for knobs.

    ``study`` contains one block with all candidates, and ``first_blocks`` is the number of such blocks in the first
    round.
    """

    study: Study
    sweep: Sweep
    first_blocks: int

    @property
    def trials(self) -> int:
        """The maximum number of trials."""
        return halving.trials(len(self.study.entries), self.first_blocks)

    @property
    def seconds(self) -> float:
        """The estimated duration of the search in seconds."""
        return self.trials * self.trial_s

    @property
    def grid_seconds(self) -> float:
        """The estimated duration in seconds if every candidate were measured as often as the finalists."""
        return halving.grid_trials(len(self.study.entries), self.first_blocks) * self.trial_s

    @property
    def trial_s(self) -> float:
        """The estimated duration of a trial in seconds."""
        return planned_seconds(self.study) / len(self.study.entries)

    @property
    def metric(self) -> Metric:
        """The metric that decides between candidates: the throughput, or the p99 at a fixed rate."""
        return self.study.tests[0].decisive


def plan(setup: Setup, cores: int, path: str, rate: float | None, max_time_s: float) -> KnobSearch:
    """Plan a search for good knobs of a setup that runs on ``cores`` CPU cores.

    Raises:
        UserError: If an option isn't valid, or ``max_time_s`` is too short.
    """
    sweep = candidates(setup, cores)
    if rate is None:
        # Enough connections to use all threads of the largest candidate.
        busy = prod(max(map(int, values)) for values in sweep.knobs.values())
        kind, load = "throughput", {"connections": max(FEWEST_CONNECTIONS, busy), "duration": DURATION_S}
    else:
        require_within("--rate", rate, LOWEST_RATE, int(MAX_RATE))
        # Enough requests to measure the 99th percentile, even if some requests fail.
        kind, load = "latency", {"rate": rate, "duration": max(DURATION_S, round(1.05 * requests_needed(99) / rate, 3))}
    table: dict[str, Any] = {
        "title": f"Good knobs for {setup.label}",
        "question": f"Which values of {' and '.join(sweep.knobs)} are best for {path} on {setup.label}?",
        "sweep": {"setup": setup.name, **{knob: list(values) for knob, values in sweep.knobs.items()}},
        "tests": {kind: {"path": path, "warmup": WARMUP_S, **load}},
        "blocks": 1,
    }
    return _within(studies.parse(table, f"advise-{setup.name}", "advise"), sweep, max_time_s)


def of_setup(name: str, path: str, rate: float | None, max_time_s: float) -> KnobSearch:
    """Plan a search for good knobs of a setup on this machine.

    Raises:
        UserError: If an option isn't valid, or ``max_time_s`` is too short.
    """
    [setup] = setups.find([name])
    cores = hosts.at("local").allot(os.environ.get("CORES")).servers
    return plan(setup, len(cores), path, rate, max_time_s)


def of_study(study: Study, max_time_s: float) -> KnobSearch:
    """Plan a search for the best cell of a sweep.

    Raises:
        UserError: If the study isn't a sweep with a single test at a known load, or ``max_time_s`` is too short.
    """
    if study.sweep is None:
        raise UserError(f"{study.name} is not a sweep. Name a setup, or a study with a [sweep] table")
    if len(study.tests) > 1:
        tests = series([test.name for test in study.tests])
        raise UserError(f"{study.name} has {plural(len(study.tests), 'test')} ({tests}). A search needs a single test")
    if study.ceiling_tests:
        raise UserError(f"{study.name}: the rate of the test is 'auto'. Set the rate to a number")
    one_block = dataclasses.replace(study, name=f"advise-{study.name}", title=f"Good knobs: {study.title}", blocks=1)
    return _within(one_block, study.sweep, max_time_s)


def _within(study: Study, sweep: Sweep, max_time_s: float) -> KnobSearch:
    shortest_s = KnobSearch(study, sweep, 1).seconds
    if shortest_s > max_time_s:
        raise UserError(f"the shortest search takes about {shortest_s / 60:.1f} minutes. Set a longer --max-time")
    return KnobSearch(study, sweep, min(MAX_FIRST_BLOCKS, int(max_time_s / shortest_s)))


def prepare(
    search: KnobSearch, options: RunOptions, bench_of: BenchOf = make_bench, progress: Announce = silent
) -> Execution:
    """Create the run folder, and plan the trials of the first round.

    Raises:
        UserError: If the run can't start.
    """
    first = dataclasses.replace(search.study, blocks=search.first_blocks)
    return preparing.prepare(first, options, bench_of, progress)


class NoAdvice(UserError):
    """An error if no candidate has a valid trial with successful answers."""


def execute(search: KnobSearch, execution: Execution, watcher: Watcher) -> AdviceOutcome:
    """Run all rounds of a search, and write its decisions to run.json.

    Raises:
        NoAdvice: If no candidate has a result.
        TooBusy: If contention continues (see ``runs.execute``).
    """
    begun = time.monotonic()
    run = execution.run
    halvings = Halving(
        [entry.label for entry in execution.study.entries], search.first_blocks, search.metric.more_is_better
    )
    while isinstance(step := halvings.next(), Round):
        _append(run, step)
        _keep(run, search, halvings, None, time.monotonic() - begun)
        runs.execute(execution, watcher)
        try:
            halvings.record(step, _values(run, step, search.metric))
        except ValueError as error:
            raise NoAdvice(f"{run.path}: {error}. Its report.html shows the reasons") from None
    _keep(run, search, halvings, step, time.monotonic() - begun)
    return step


def _append(run: Run, step: Round) -> None:
    """Append the trials of a round to the run's order, which already contains the first round."""
    record = run.record
    before = [slot for slot in record.order if slot.block < step.blocks[0]]
    chosen = tuple(entry for entry in record.study.entries if entry.label in step.candidates)
    of_round = dataclasses.replace(record.study, entries=chosen, blocks=len(step.blocks))
    # Each round uses a different seed, and so a different order of the trials.
    slots = schedule(of_round, record.seed + step.blocks[0] - 1)
    more = [
        dataclasses.replace(slot, number=len(before) + slot.number, block=step.blocks[slot.block - 1]) for slot in slots
    ]
    run.update(order=(*before, *more), study=dataclasses.replace(record.study, blocks=step.blocks[-1]))


def _values(run: Run, step: Round, metric: Metric) -> dict[str, dict[int, float]]:
    """Return the metric's values in a round, by candidate and block.

    Leave out candidates that made their own trials invalid or didn't answer all requests, because a percentile of the
    remaining answers isn't comparable.
    """
    # the last attempt of a trial replaces earlier attempts
    last = {trial.number: trial for trial in run.trials() if trial.block in step.blocks}
    failed = {trial.label for trial in last.values() if is_setups_own(trial.flags)}
    values: dict[str, dict[int, float]] = {label: {} for label in step.candidates if label not in failed}
    for trial in last.values():
        if not trial.valid or trial.label not in values:
            continue
        value = metric.read(trial)
        if failed_share([trial]) > FAILED or value == 0 or (value is None and not delay_note(trial, metric)):
            failed.add(trial.label)
        elif value is not None:
            values[trial.label][trial.block] = value
    return {label: by_block for label, by_block in values.items() if label not in failed}


def _keep(run: Run, search: KnobSearch, halvings: Halving, outcome: AdviceOutcome | None, seconds: float) -> None:
    ran = sum(len(past.candidates) * len(past.blocks) for past in halvings.rounds)
    pace = seconds / (ran * search.trial_s) if ran else 1.0  # the actual duration relative to the planned duration
    run.update(
        advice=Advice(
            metric=search.metric.name,
            rounds=tuple(halvings.rounds),
            outcome=outcome,
            seconds=round(seconds, 1),
            grid_seconds=round(search.grid_seconds * pace, 1),
        )
    )


def candidates(setup: Setup, cores: int) -> Sweep:
    """Return a sweep over the setup's WORKERS and THREADS, with the simplest candidate first.

    Raises:
        UserError: If the setup uses neither knob.
    """
    knobs = {"WORKERS": workers(cores), "THREADS": THREADS}
    taken = {knob: values for knob, values in knobs.items() if takes(setup, knob)}
    if not taken:
        raise UserError(f"{setup.name} uses neither WORKERS nor THREADS, so it can't be tuned. Name another setup")
    return Sweep(setup.name, taken)


def takes(setup: Setup, knob: str) -> bool:
    """Return whether the setup's file uses the knob."""
    lines = setup.file.read_text(encoding="utf-8").splitlines()
    return any(
        re.search(rf"%\(ENV_BENCH_{knob}\)|\${{?BENCH_{knob}\b", line) for line in lines if not line.startswith(";")
    )


def workers(cores: int) -> tuple[str, ...]:
    """Return the numbers of workers to try.

    The highest number is twice the number of cores plus one, as Gunicorn's documentation recommends.
    """
    most = 2 * cores + 1
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, round(found[-1] * 4 / 3) if found[-1] >= FINE else 0)))
    return tuple(map(str, found))
