"""Prepare a run: select the setups that can be served and create the run folder, or plan a dry run."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any

from loadtests import files, hosts, setups
from loadtests.errors import UserError, require_within
from loadtests.measure import ceilings, contract_check
from loadtests.measure.bench import Bench, BenchOf, bench_of_run, make_bench
from loadtests.measure.contention import attempts_to_go_on
from loadtests.measure.run import ATTEMPTS, Execution, now
from loadtests.observe import machine
from loadtests.plan.entries import Entry, in_environment
from loadtests.plan.schedule import Slot, schedule
from loadtests.plan.study import Study
from loadtests.records.run import folder
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import (
    EnvironmentRecord,
    Git,
    Goal,
    LeftOut,
    OwnProject,
    RunRecord,
    SetupRecord,
)
from loadtests.setups import environment, other_stacks, services
from loadtests.setups.application import project, sample
from loadtests.setups.application.own_websocket import without_secrets
from loadtests.setups.application.progress import Announce, silent
from loadtests.workload.secrets import REPLACED

SEEDS = 2**32


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options of a run: its folder, the seed of its order, the goal for adding blocks, and the user's own project.

    None means that the run chooses a value, or that the option isn't used.
    """

    output: Path | None = None
    seed: int | None = None
    goal: Goal | None = None
    own: project.Options | None = None


def require(study: Study, options: RunOptions) -> None:
    """Check everything that can be checked immediately.

    Raises:
        UserError: If the run can't start.
    """
    folder.require_new(options.output or free_folder(study.name))
    if options.seed is not None:
        require_within("--seed", options.seed, 0, SEEDS - 1)
    study.require_feasible(study.name)
    if options.own is not None:
        hosts.require_port()  # before the project loads, which can take minutes
        project.unloaded(options.own, environment.own_bin())  # unlike bin, own_bin installs no packages


def prepare(
    study: Study, options: RunOptions, bench_of: BenchOf = make_bench, progress: Announce = silent
) -> Execution:
    """Create the run folder of a study.

    Setups that can't be served are left out of the study, and setups that can't run a test are left out of the test.
    run.json contains the reasons.

    Raises:
        UserError: If another problem would prevent the run. In this case, no file is written.
    """
    output, seed = options.output, options.seed
    require(study, options)
    served = _application(options.own, study, progress)
    bench = bench_of(study, served.application)
    study, left_out = servable(study, bench)
    if served.application.alone:
        study = dataclasses.replace(study, interleave=False)
    bench.require(study)
    progress("preparing the project")
    bench.application.prepare()
    progress(f"starting {study.baseline}, to record its answers")
    bench.contract, memory_mb = contract_check.preflight(bench, study)
    study = _fitting_memory(bench, study, memory_mb)
    seed = bench.seed = secrets.randbelow(SEEDS) if seed is None else seed
    apart = frozenset((one.label, one.test) for one in left_out if one.test is not None)
    if study.ceiling_tests:
        progress("finding a rate that every setup sustains")
    study, found_ceilings = ceilings.settle(bench, study, apart)
    record = RunRecord(
        name=study.name,
        created=now(),
        command=shlex.join(["python", "-m", "loadtests", *without_secrets(sys.argv[1:])]),
        study=study,
        setups={entry.label: _setup(bench, entry) for entry in study.entries},
        services=_services(bench, study),
        seed=seed,
        goal=options.goal,
        application=_about(options.own, served),
        left_out=left_out,
        contract=bench.contract,
        ceilings=found_ceilings,
        order=(),
        knobs=setups.given(),
        database=setups.database(),
        cores=bench.cores.to_dict({}),
        machine=bench.host.machine(),
        versions=_versions(bench, study),
        environments=_environments(served),
        git=Git(**machine.git()),
        servers=bench.host.other_host(),
        clients=bench.client_records,
        workers=bench.clients.workers,
    )
    record = dataclasses.replace(record, order=tuple(schedule(study, seed, record.places_left_out)))
    run = Run.create(output or free_folder(f"{record.created[:10]}-{study.name}"), record)
    return Execution(run, bench)


@dataclasses.dataclass(frozen=True)
class DryRun:
    """The plan of a run that isn't started. Without a seed, its order is only an example.

    ``problem`` is the reason why the run couldn't start, or None.
    """

    study: Study
    bench: Bench
    left_out: tuple[LeftOut, ...]
    remarks: tuple[str, ...]
    order: tuple[Slot, ...]
    folder: Path
    problem: str | None


def plan_run(study: Study, options: RunOptions, bench_of: BenchOf = make_bench) -> DryRun:
    """Plan a run like ``prepare``, without starting setups or loading the user's project.

    Raises:
        UserError: If nothing can be measured.
    """
    found = project.unloaded(options.own) if options.own else project.Found(sample(), (), {})
    bench = bench_of(study, found.application)
    study, left_out = servable(study, bench)
    partly = {(one.label, one.test) for one in left_out if one.test is not None}
    today, problem = datetime.datetime.now(datetime.UTC).date().isoformat(), None
    try:
        folder.require_new(options.output or free_folder(study.name))
        dataclasses.replace(bench, clients=bench.clients.at_hand).require(study)
    except UserError as error:
        problem = str(error)
    return DryRun(
        study=study,
        bench=bench,
        left_out=left_out,
        remarks=found.remarks,
        order=tuple(schedule(study, options.seed or 0, partly)),
        folder=options.output or free_folder(f"{today}-{study.name}"),
        problem=problem,
    )


def _fitting_memory(bench: Bench, study: Study, baseline_mb: float) -> Study:
    """Let the setups run one after the other if they don't fit into the free memory at the same time.

    Assume that each worker needs as much memory as a worker of the baseline.
    """
    workers = {entry.label: setups.workers(entry.env) for entry in study.entries}
    worker_mb = baseline_mb / workers[study.baseline]
    return study.within_memory(worker_mb * sum(workers.values()), bench.host.free_memory_mb())


def resume(folder: Path, bench_of: BenchOf | None = None, progress: Announce = silent) -> Execution:
    """Open the folder of a run to resume the run, with the knobs that were set when the run started.

    If contention made all trials of a slot invalid, the slot gets new attempts, unless the run has ended.

    Raises:
        UserError: If the machine, the packages or the setups' files have changed.
    """
    run = Run.open(folder)
    record = run.record
    try:
        setups.take(record.knobs)
        own = project.Options.from_dict(record.application.options) if record.application else None
    except TypeError as error:
        raise UserError(
            f"{folder}: this version doesn't support the project's options: {error}. Start a new run"
        ) from None
    except UserError as error:
        raise UserError(f"{folder}: {error}") from None
    headers = (one for test in record.study.tests for request in test.requests for one in request.headers)
    if not_kept := sorted({name for name, value in headers if value == REPLACED}):
        names = ", ".join(not_kept)
        raise UserError(
            f"{folder}: some requests contain secret headers ({names}), which run folders don't store. Start a new run"
        )
    for option, text in (("--setup-command", own.before), ("--ticket", own.ticket)) if own else ():
        if REPLACED in text:
            raise UserError(f"{folder}: {option} contains a secret, which run folders don't store. Start a new run")
    try:
        run.record = record = dataclasses.replace(record, study=record.study.with_bodies())
    except UserError as error:
        raise UserError(f"{folder}: body_file: {error}") from None
    served = _application(own, record.study, progress)
    bench = (bench_of or bench_of_run(record))(record.study, served.application)
    bench.require(record.study)
    bench.contract, bench.seed = record.contract, record.seed
    if changed := _changed(bench, record, _about(own, served), _environments(served)):
        raise UserError(f"{folder}: the {' and the '.join(changed)} changed since the run started. Start a new run")
    if (
        not bench.application.own
    ):  # don't run --setup-command of the user's project again, because the command could change the project's data
        progress("preparing the project")
        bench.application.prepare()
    # A run that has ended gets no new attempts, because its report already explains the cells without figures.
    attempts = {} if record.ended else attempts_to_go_on(run.trials(), ATTEMPTS)
    return Execution(run, bench, attempts=attempts)


def _changed(
    bench: Bench, record: RunRecord, about: OwnProject | None, environments: tuple[EnvironmentRecord, ...]
) -> list[str]:
    """Return the names of everything that has changed since the run started, such as ``packages``."""
    study = record.study
    same = {
        "machine": bench.host.machine()["cpu"] == record.machine.get("cpu"),
        "packages": _packages(_versions(bench, study)) == _packages(record.versions),
        "project": about == record.application,
        "variants' environments": environments == record.environments,
        "database": setups.database() == record.database,
        "setups' files": all(_setup(bench, entry) == record.setups[entry.label] for entry in study.entries),
        "services' files": _services(bench, study) == record.services,
        "journeys' files": all(test.files_unchanged for test in study.tests),
    }
    return [what for what, is_same in same.items() if not is_same]


def _application(own: project.Options | None, study: Study, progress: Announce) -> project.Found:
    """Load the project to serve, either the user's own or the sample project.

    Raises:
        UserError: If the project can't be loaded, or a knob isn't valid.
    """
    for entry in study.entries:
        setups.require_knobs(entry.env, own=own is not None, whose=f"{entry.label}: ")
    services = any(test.services for test in study.tests)
    requests = [request for test in study.tests for request in test.requests]
    known = setups.known()
    found_setups = [in_environment(entry, known) for entry in study.entries]
    return project.chosen(own, found_setups, progress, requests=requests, services=services)


def _about(own: project.Options | None, served: project.Found) -> OwnProject | None:
    """Return the record of the user's own project, or None for the sample project."""
    return OwnProject(options=own.to_dict(), remarks=served.remarks, **served.facts) if own else None


def _environments(served: project.Found) -> tuple[EnvironmentRecord, ...]:
    return tuple(EnvironmentRecord(variant, **facts) for variant, facts in served.environments.items())


def servable(study: Study, bench: Bench) -> tuple[Study, tuple[LeftOut, ...]]:
    """Return the study without the setups that can't be served, and the reasons why setups are left out.

    Raises:
        UserError: If the baseline can't be served.
    """
    left_out: list[LeftOut] = []
    kept: list[Entry] = []
    for entry in study.entries:
        if (why := bench.obstacle(entry)) is not None:
            left_out.append(LeftOut(entry.label, None, why))
            continue
        refusals = [
            LeftOut(entry.label, test.name, why)
            for test in study.tests
            if (why := bench.refused(entry, test)) is not None
        ]
        if len(refusals) < len(study.tests):
            kept.append(entry)
            left_out += refusals
        else:
            left_out.append(LeftOut(entry.label, None, refusals[0].why))
    for one in left_out:
        if one.label == study.baseline:
            where = f"measured in {one.test}" if one.test else "served"
            raise UserError(f"the study's baseline, {study.baseline}, can't be {where}: {one.why}")
    return dataclasses.replace(study, entries=tuple(kept)), tuple(left_out)


def _setup(bench: Bench, entry: Entry) -> SetupRecord:
    setup = bench.setup_of(entry)
    config = setup.deployed.text if setup.deployed else setup.file.read_text(encoding="utf-8")
    return SetupRecord(setup.label, setup.interface, config)


def _services(bench: Bench, study: Study) -> dict[str, str]:
    """Return the supervisor files of all services that a setup, its knobs or a test needs."""
    of_setups = [name for entry in study.entries for name in bench.services_of(entry)]
    names = dict.fromkeys([*of_setups, *(name for test in study.tests for name in test.services)])
    known = services.known()
    return {name: known[name].file.read_text(encoding="utf-8") for name in names}


def _versions(bench: Bench, study: Study) -> dict[str, Any]:
    """Return the versions of the study's software, including the software in other stacks."""
    stacks = filter(None, (bench.setup_of(entry).stack for entry in study.entries))
    return {**bench.host.versions(), **other_stacks.versions(stacks)}


def _packages(versions: dict[str, Any]) -> dict[str, Any]:
    """Return the versions of Python packages, which must not change during a run."""
    return {name: value for name, value in versions.items() if name == "packages" or name.startswith("stack_")}


def free_folder(name: str) -> Path:
    path, number = files.RESULTS / name, 1
    while path.exists():
        number += 1
        path = files.RESULTS / f"{name}-{number}"
    return path
