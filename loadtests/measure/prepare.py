"""Before a run: what of its study can be served here, and the run folder; or, to go on, the folder of a run as it was
begun."""

from __future__ import annotations

import dataclasses
import os
import secrets
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loadtests import files, setups
from loadtests.errors import UserError, require_within
from loadtests.measure import ceilings, preflight
from loadtests.measure.bench import Bench, BenchOf, bench, where_it_was
from loadtests.measure.contention import attempts_to_go_on
from loadtests.measure.run import ATTEMPTS, Execution, now
from loadtests.observe import machine
from loadtests.plan.concurrency import fitting
from loadtests.plan.schedule import schedule
from loadtests.plan.study import Entry, Study
from loadtests.records.run import folder
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import Git, Goal, LeftOut, OwnProject, RunRecord, ServiceHost, SetupRecord
from loadtests.setups import other_stacks, services
from loadtests.setups.application import Application, project
from loadtests.setups.application.own_websocket import without_secrets
from loadtests.setups.application.progress import Announce, silent

SEEDS = 2**32


def prepare(
    study: Study,
    output: Path | None,
    seed: int | None,
    goal: Goal | None = None,
    own: project.Options | None = None,
    bench_of: BenchOf = bench,
    told: Announce = silent,
) -> Execution:
    """Makes the run folder of a study, of the sample project or of the user's ``own``.

    What this machine or the project lacks for a setup leaves that setup out, and what a setup cannot do leaves it out
    of a test, with the reason in run.json. All else that can be known to be wrong before the first trial raises
    UserError here, and nothing is written then. ``told`` is told of what takes its time.
    """
    if output is not None:
        folder.require_new(output)
    if seed is not None:
        require_within("--seed", seed, 0, SEEDS - 1)
    study.require_feasible(study.name)
    for entry in study.entries:
        setups.require_knobs(entry.env, own=own is not None, whose=f"{entry.label}: ")
    application, about = _application(own, study, told)
    made = bench_of(study, application)
    study, left_out = servable(study, made)
    made.require(study)
    told("preparing the project")
    made.application.prepare()
    told(f"starting {study.baseline}, to see what it answers")
    seen = preflight.look(made, study)
    made.contract = seen.contract
    study = _held_at_once(made, study, seen.memory_mb)
    seed = made.seed = secrets.randbelow(SEEDS) if seed is None else seed
    apart = frozenset((one.label, one.test) for one in left_out if one.test is not None)
    if study.ceiling_tests:
        told("finding a rate that every setup holds")
    study, found = ceilings.settle(made, study, apart)
    record = RunRecord(
        name=study.name,
        created=now(),
        command=shlex.join(["python", "-m", "loadtests", *without_secrets(sys.argv[1:])]),
        study=study,
        setups={entry.label: _setup(made, entry) for entry in study.entries},
        services=_services(made, study),
        seed=seed,
        goal=goal,
        application=about,
        left_out=left_out,
        contract=made.contract,
        ceilings=found,
        order=(),
        knobs=setups.given(),
        database=setups.database(),
        cores=made.cores.to_dict({}),
        machine=made.host.machine(),
        versions=_versions(made, study),
        git=Git(**machine.git()),
        servers=made.host.other_host(),
        clients=made.clients_seen,
        service_hosts=made.service_hosts_seen,
    )
    record = dataclasses.replace(record, order=tuple(schedule(study, seed, record.places_left_out)))
    return Execution(Run.create(output or free_folder(f"{record.created[:10]}-{study.name}"), record), made)


def _held_at_once(made: Bench, study: Study, baseline_mb: float) -> Study:
    """The study with as many setups at once as this machine's memory holds, each worker being as large as one of the
    baseline's."""
    of_workers = {entry.label: setups.workers(entry.env) for entry in study.entries}
    each_mb = baseline_mb / of_workers[study.baseline]
    memory_mb = {label: each_mb * workers for label, workers in of_workers.items()}
    return fitting(study, memory_mb, made.host.free_memory_mb())


def resume(folder: Path, bench_of: BenchOf | None = None, told: Announce = silent) -> Execution:
    """Opens a run folder to go on with it, under the knobs it was begun with.

    Where it had not ended, the places that the machine spoiled each time have as many attempts again. Raises UserError
    where the rest would be measured on another machine, with other packages or other setups' files.
    """
    run = Run.open(folder)
    record = run.record
    for name in setups.KNOBS:
        os.environ.pop(name, None)
    os.environ.update({name: value for name, value in record.knobs.items() if name in setups.KNOBS})
    try:
        own = project.Options.from_dict(record.application.options) if record.application else None
    except TypeError as error:
        raise UserError(f"{folder}: the options of its project are not known here: {error}") from None
    except UserError as error:
        raise UserError(f"{folder}: {error}") from None
    for entry in record.study.entries:
        setups.require_knobs(entry.env, own=own is not None, whose=f"{entry.label}: ")
    application, about = _application(own, record.study, told)
    made = (bench_of or where_it_was(record))(record.study, application)
    made.require(record.study)
    made.contract, made.seed = record.contract, record.seed
    now_and_then = {
        "machine": (made.host.machine()["cpu"], record.machine.get("cpu")),
        "packages": (_packages(_versions(made, record.study)), _packages(record.versions)),
        "project": (about, record.application),
        "database": (setups.database(), record.database),
        "services' machines": (_machines(made.service_hosts_seen), _machines(record.service_hosts)),
    }
    changed = [what for what, (today, then) in now_and_then.items() if today != then]
    if any(_setup(made, entry) != record.setups[entry.label] for entry in record.study.entries):
        changed.append("setups' files")
    if _services(made, record.study) != record.services:
        changed.append("services' files")
    if not all(test.files_unchanged for test in record.study.tests):
        changed.append("journeys' files")
    if changed:
        raise UserError(f"{folder}: since it was begun the {' and the '.join(changed)} changed; start a new run")
    if not made.application.own:  # --before of an own project is not run again: the project stays as the trials left it
        told("preparing the project")
        made.application.prepare()
    # An ended run stays as it ended, with the cells that say why they are empty.
    attempts = {} if record.ended else attempts_to_go_on(run.trials(), ATTEMPTS)
    return Execution(run, made, attempts=attempts)


def _machines(hosts: Iterable[ServiceHost]) -> list[tuple[str, object, str | None]]:
    """What may not change of the machines that services have to themselves."""
    return [(one.service, one.machine.get("cpu"), one.version) for one in hosts]


def _application(own: project.Options | None, study: Study, told: Announce) -> tuple[Application, OwnProject | None]:
    """What is served, and what run.json keeps of a project of the user's."""
    found = project.chosen(own, setups.find(entry.setup for entry in study.entries), told)
    if own is None:
        return found.application, None
    return found.application, OwnProject(options=own.to_dict(), remarks=found.remarks, **found.facts)


def servable(study: Study, made: Bench) -> tuple[Study, tuple[LeftOut, ...]]:
    """The study without the setups that cannot be served, and what is left out and why. Raises UserError where that
    is the baseline, or all of it."""
    application = made.application
    left_out: list[LeftOut] = []
    kept: list[Entry] = []
    for entry in study.entries:
        if (why := application.obstacle(made.setups[entry.setup])) is not None:
            left_out.append(LeftOut(entry.label, None, why))
            continue
        refusals = [
            LeftOut(entry.label, test.name, why)
            for test in study.tests
            if (why := application.refused(made.setups[entry.setup], test.setup_features, test.requests)) is not None
        ]
        if len(refusals) < len(study.tests):
            kept.append(entry)
            left_out += refusals
        else:
            left_out.append(LeftOut(entry.label, None, refusals[0].why))
    for one in left_out:
        if one.label == study.baseline:
            where = f"measured in {one.test}" if one.test else "served"
            raise UserError(f"the study's baseline, {study.baseline}, cannot be {where}: {one.why}")
    return dataclasses.replace(study, entries=tuple(kept)), tuple(left_out)


def _setup(made: Bench, entry: Entry) -> SetupRecord:
    """What run.json keeps of an entry's setup."""
    setup = made.setups[entry.setup]
    return SetupRecord(setup.label, setup.interface, setup.file.read_text(encoding="utf-8"))


def _services(made: Bench, study: Study) -> dict[str, str]:
    """The supervisor files of all services that a setup, its knobs or a test of the study asks for."""
    of_setups = [name for entry in study.entries for name in made.beside(entry)]
    names = dict.fromkeys([*of_setups, *(name for test in study.tests for name in test.services)])
    known = services.known()
    return {name: known[name].file.read_text(encoding="utf-8") for name in names}


def _versions(made: Bench, study: Study) -> dict[str, Any]:
    """The software that the study is measured with, that of other stacks included."""
    stacks = (made.setups[entry.setup].stack for entry in study.entries)
    return {**made.host.versions(), **other_stacks.versions(name for name in stacks if name)}


def _packages(versions: dict[str, Any]) -> dict[str, Any]:
    """What of it must not change within a run: the packages for Python."""
    return {name: value for name, value in versions.items() if name == "packages" or name.startswith("stack_")}


def free_folder(name: str) -> Path:
    folder = files.RESULTS / name
    number = 2
    while folder.exists():
        folder = files.RESULTS / f"{name}-{number}"
        number += 1
    return folder
