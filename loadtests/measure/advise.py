"""The search for good knobs: rounds of short trials into a run folder, until successive halving has its answer."""

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
LOWEST_RATE = 0.1  # below it, the 99th percentile of a trial takes hours
THREADS = ("1", "2", "4", "8")
FINE = 4  # up to this number of workers every one is tried, from there on steps of about a third
# With as many blocks in the first round, 98 of 100 simulated searches found the best to within 5% (docs/simulations).
MOST_FIRST_BLOCKS = 4


@dataclasses.dataclass(frozen=True)
class KnobSearch:
    """A search that is about to begin: its study, one block of the first round, and the blocks of that round."""

    study: Study
    sweep: Sweep
    first_blocks: int

    @property
    def trials(self) -> int:
        """The most trials that it takes."""
        return halving.trials(len(self.study.entries), self.first_blocks)

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return self.trials * self.trial_s

    @property
    def grid_seconds(self) -> float:
        """About how long it would take to measure every candidate as often as the finalists."""
        return halving.grid_trials(len(self.study.entries), self.first_blocks) * self.trial_s

    @property
    def trial_s(self) -> float:
        """About how long a trial takes."""
        return planned_seconds(self.study) / len(self.study.entries)

    @property
    def metric(self) -> Metric:
        """What decides: throughput, or p99 at the fixed rate."""
        return self.study.tests[0].decisive


def plan(setup: Setup, cores: int, path: str, rate: float | None, max_time_s: float) -> KnobSearch:
    """The search for a setup's knobs on a number of cores. Raises UserError, also where ``max_time_s`` is too short."""
    sweep = candidates(setup, cores)
    if rate is None:
        # Enough connections to keep all threads of the largest candidate busy.
        busy = prod(max(map(int, values)) for values in sweep.knobs.values())
        kind, load = "throughput", {"connections": max(FEWEST_CONNECTIONS, busy), "duration": DURATION_S}
    else:
        require_within("--rate", rate, LOWEST_RATE, int(MAX_RATE))
        # Enough requests to know the 99th percentile, and some that may fail.
        kind, load = "latency", {"rate": rate, "duration": max(DURATION_S, round(1.05 * requests_needed(99) / rate, 3))}
    table: dict[str, Any] = {
        "title": f"Good knobs for {setup.label}",
        "question": f"With which {' and '.join(sweep.knobs)} does {setup.label} serve {path} best on this machine?",
        "sweep": {"setup": setup.name, **{knob: list(values) for knob, values in sweep.knobs.items()}},
        "tests": {kind: {"path": path, "warmup": WARMUP_S, **load}},
        "blocks": 1,
    }
    return _within(studies.parse(table, f"advise-{setup.name}", "advise"), sweep, max_time_s)


def of_setup(name: str, path: str, rate: float | None, max_time_s: float) -> KnobSearch:
    """The search for the knobs of the setup of that name on this machine's cores. Raises UserError."""
    [setup] = setups.find([name])
    cores = hosts.at("local").allot(os.environ.get("CORES")).servers
    return plan(setup, len(cores), path, rate, max_time_s)


def of_study(study: Study, max_time_s: float) -> KnobSearch:
    """The search among the cells of a sweep. Raises UserError where the study is no sweep with a single test at a known
    load, and where ``max_time_s`` is too short."""
    if study.sweep is None:
        raise UserError(f"{study.name} is no sweep; a setup, or a study with a table [sweep], is needed")
    if len(study.tests) > 1:
        tests = series([test.name for test in study.tests])
        raise UserError(f"{study.name} has {plural(len(study.tests), 'test')} ({tests}); a search is decided by one")
    if study.ceiling_tests:
        raise UserError(f"{study.name}: the rate of its test is left to the run; a search needs a number")
    one_block = dataclasses.replace(study, name=f"advise-{study.name}", title=f"Good knobs: {study.title}", blocks=1)
    return _within(one_block, study.sweep, max_time_s)


def _within(study: Study, sweep: Sweep, max_time_s: float) -> KnobSearch:
    shortest_s = KnobSearch(study, sweep, 1).seconds
    if shortest_s > max_time_s:
        raise UserError(f"the shortest search takes about {shortest_s / 60:.1f} minutes; give it a longer --max-time")
    return KnobSearch(study, sweep, min(MOST_FIRST_BLOCKS, int(max_time_s / shortest_s)))


def prepare(
    search: KnobSearch, options: RunOptions, bench_of: BenchOf = make_bench, progress: Announce = silent
) -> Execution:
    """Makes the run folder, with the first round as its order. Raises UserError."""
    first = dataclasses.replace(search.study, blocks=search.first_blocks)
    return preparing.prepare(first, options, bench_of, progress)


class NoAdvice(UserError):
    """No candidate has a valid trial in which it answered its requests."""


def execute(search: KnobSearch, execution: Execution, watcher: Watcher) -> AdviceOutcome:
    """Runs round after round; run.json keeps what was decided. Raises NoAdvice, and TooBusy as ``runs.execute``."""
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
            raise NoAdvice(f"{run.path}: {error}; report.html in it says why") from None
    _keep(run, search, halvings, step, time.monotonic() - begun)
    return step


def _append(run: Run, step: Round) -> None:
    """Puts a round at the end of the run's order; the first is there already."""
    record = run.record
    before = [slot for slot in record.order if slot.block < step.blocks[0]]
    chosen = tuple(entry for entry in record.study.entries if entry.label in step.candidates)
    of_round = dataclasses.replace(record.study, entries=chosen, blocks=len(step.blocks))
    # Another round, another shuffle.
    slots = schedule(of_round, record.seed + step.blocks[0] - 1)
    more = [
        dataclasses.replace(slot, number=len(before) + slot.number, block=step.blocks[slot.block - 1]) for slot in slots
    ]
    run.update(order=(*before, *more), study=dataclasses.replace(record.study, blocks=step.blocks[-1]))


def _values(run: Run, step: Round, metric: Metric) -> dict[str, dict[int, float]]:
    """The values of a round by candidate and block, without candidates that failed by their own fault or left requests
    unanswered: a percentile of the answers that they did give is no merit."""
    last = {trial.number: trial for trial in run.trials() if trial.block in step.blocks}  # a repeat takes the place
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
    pace = seconds / (ran * search.trial_s) if ran else 1.0  # how long a trial really took, against what was planned
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
    """The sweep over the setup's WORKERS and THREADS, the simplest first. Raises UserError where it takes neither."""
    knobs = {"WORKERS": workers(cores), "THREADS": THREADS}
    taken = {knob: values for knob, values in knobs.items() if takes(setup, knob)}
    if not taken:
        raise UserError(f"{setup.name} takes neither WORKERS nor THREADS: there is nothing to advise on")
    return Sweep(setup.name, taken)


def takes(setup: Setup, knob: str) -> bool:
    """Whether the setup's file uses the knob."""
    lines = setup.file.read_text(encoding="utf-8").splitlines()
    return any(
        re.search(rf"%\(ENV_BENCH_{knob}\)|\${{?BENCH_{knob}\b", line) for line in lines if not line.startswith(";")
    )


def workers(cores: int) -> tuple[str, ...]:
    """From 1 to twice the cores and one more, which is where Gunicorn's documentation begins."""
    most = 2 * cores + 1
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, round(found[-1] * 4 / 3) if found[-1] >= FINE else 0)))
    return tuple(map(str, found))
