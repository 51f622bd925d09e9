"""Runs a study: trial after trial into a run folder, which can be read and resumed at any moment."""

from __future__ import annotations

import dataclasses
import datetime
import math
import os
import re
import secrets
import shlex
import sys
import time
from pathlib import Path
from typing import Any, Protocol

from loadtests import engines, paths, setups, store
from loadtests.analyse.compare.within import widest_interval
from loadtests.analyse.results import Results
from loadtests.analyse.validity import is_setups_own
from loadtests.application import Application, project
from loadtests.engines.node import pinned
from loadtests.errors import UserError
from loadtests.measure import capacity as find
from loadtests.measure import preflight
from loadtests.measure.trial import Bench, load_of, run_trial, search_of
from loadtests.observe import cores, machine
from loadtests.plan import study as studies
from loadtests.plan.schedule import Slot, schedule
from loadtests.plan.study import Entry, Study
from loadtests.serve.serving import require_free

ATTEMPTS = 2  # an invalid trial is repeated once
OWN_STUDY = "own-project"  # what a project of the user's is asked, where nothing else is said
MAX_TIME = "1h"  # for adding blocks, where nothing else is said


class Watcher(Protocol):
    """Is told how a run goes."""

    def started(self, slot: Slot, attempt: int, trials: int) -> None:
        """A trial begins."""

    def second(self, row: dict[str, Any]) -> None:
        """A second of load went by; ``row`` is that second of the timeline."""

    def ended(self, trial: store.Trial, again: bool) -> None:
        """A trial was written; ``again`` where it is invalid and will be repeated."""


@dataclasses.dataclass(frozen=True)
class Goal:
    """When to stop adding blocks: the widest interval is plus or minus ``until`` (a share), or the time is over."""

    until: float
    max_time_s: float


@dataclasses.dataclass(frozen=True)
class Execution:
    """A run that is about to go on: its folder, its study, and the bench it runs on."""

    run: store.Run
    study: Study
    bench: Bench

    @property
    def goal(self) -> Goal | None:
        """Where blocks are to be added: until when."""
        given = self.run.about["goal"]
        return Goal(**given) if given else None

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
        lines = [self.study.title, f"{trials}, about {self.seconds / 60:.1f} minutes, into {where}"]
        lines += [f"skipped: {label}: {why}" for label, why in self.run.about["skipped"].items()]
        lines += [f"note: {remark}" for remark in (self.run.about["application"] or {}).get("remarks", ())]
        return "\n".join(lines)


def study_of(name: str, blocks: int | None, aa: bool, price: float | None, quick: bool = False) -> Study:
    """The study of that name with what the command line changes of it. Raises UserError."""
    if not name:
        raise UserError(f"name a study ({', '.join(studies.names())}) or a run folder with --resume")
    study = studies.load(name)
    if quick:
        study = study.quick()
    if blocks is not None and blocks < 1:
        raise UserError(f"--blocks {blocks}: 1 or more are needed")
    require_price(price)
    study = dataclasses.replace(
        study, blocks=blocks or study.blocks, price_per_core_hour=price or study.price_per_core_hour
    )
    return study.with_twin() if aa else study


def require_price(price: float | None) -> None:
    """Raises UserError for a price that is none."""
    if price is not None and not 0 < price < math.inf:
        raise UserError(f"--price {price:g}: a price above 0 is needed")


def goal_of(until: str | None, max_time: str | None) -> Goal | None:
    """When to stop adding blocks, from ``--until 2%`` and ``--max-time 1h``. Raises UserError."""
    if until is None:
        if max_time is not None:
            raise UserError("--max-time is how long --until may take; say how narrow as well: --until 2%")
        return None
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%\s*", until)
    if match is None or not 0 < float(match[1]) < 100:
        raise UserError(f"--until {until}: write a percentage, such as 2%")
    return Goal(float(match[1]) / 100, studies.duration(max_time or MAX_TIME))


def prepare(
    study: Study,
    output: Path | None,
    seed: int | None,
    goal: Goal | None = None,
    own: project.Options | None = None,
) -> Execution:
    """Makes the run folder of a study, of the sample project or of the user's ``own``.

    What this machine or the project lacks for a setup leaves that setup out, with the reason in run.json. All else that
    can be known to be wrong before the first trial raises UserError here, and nothing is written then.
    """
    if output is not None:
        store.require_new(output)
    application, about = _application(own, study)
    study, skipped = _servable(study, application)
    bench = _bench(study, application)
    application.prepare()
    bench.contract = preflight.contract(bench, study)
    run = _new_run(study, output, seed, goal, bench, {"application": about, "skipped": skipped})
    return Execution(run, study, bench)


def resume(folder: Path) -> Execution:
    """Opens a run folder to go on with it, under the knobs it was begun with.

    Raises UserError where the rest would be measured on another machine, with other packages or other setups' files.
    """
    run = store.Run.open(folder)
    study = studies.from_dict(run.about["study"])
    for name in setups.KNOBS:
        os.environ.pop(name, None)
    os.environ.update(run.about["knobs"])
    if "contract" not in run.about:
        raise UserError(f"{folder}: was begun by an older version, which kept no contract; start a new run")
    begun_on = run.about["application"]
    own = project.Options.from_dict(begun_on["options"]) if begun_on else None
    application, about = _application(own, study)
    bench = _bench(study, application)
    bench.contract = run.about["contract"]
    now = {
        "machine": machine.describe()["cpu"],
        "packages": machine.versions()["packages"],
        "project": about,
        "database": _database(),
    }
    begun = {
        "machine": run.about["machine"]["cpu"],
        "packages": run.about["versions"]["packages"],
        "project": begun_on,
        "database": run.about.get("database"),
    }
    changed = [what for what in now if now[what] != begun[what]]
    if any(_setup(bench, entry) != run.about["setups"][entry.label] for entry in study.entries):
        changed.append("setups' files")
    if changed:
        raise UserError(f"{folder}: since it was begun the {' and the '.join(changed)} changed; start a new run")
    if not application.own:  # what the user had run before was run, and stays as the trials so far left it
        application.prepare()
    return Execution(run, study, bench)


def _application(own: project.Options | None, study: Study) -> tuple[Application, dict[str, Any] | None]:
    """What is served, and what run.json keeps of a project of the user's."""
    found = project.chosen(own, setups.find(entry.setup for entry in study.entries))
    if own is None:
        return found.application, None
    return found.application, {"options": own.to_dict(), "remarks": list(found.remarks), **found.facts}


def _servable(study: Study, application: Application) -> tuple[Study, dict[str, str]]:
    """The study without what cannot be served, and why not, by label. Raises UserError where that is the baseline."""
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in study.entries)}
    obstacles = {entry.label: application.obstacle(known[entry.setup]) for entry in study.entries}
    skipped = {label: why for label, why in obstacles.items() if why is not None}
    if study.baseline in skipped:
        raise UserError(f"the study's baseline, {study.baseline}, cannot be served: {skipped[study.baseline]}")
    kept = tuple(entry for entry in study.entries if entry.label not in skipped)
    return dataclasses.replace(study, entries=kept), skipped


def execute(execution: Execution, watcher: Watcher) -> bool:
    """Runs the trials that have not been run; returns whether the run is a success.

    It is none where a setup failed (``loadtests.analyse.validity.SETUPS_OWN``), repeat included, or has no valid trial
    at all in some test. What the machine spoiled is a block less. Each trial is written before the next begins, so
    whatever ends this, what was measured is kept.
    """
    # This process, too, keeps off the servers' cores; what it starts is put where it belongs when it is started.
    if execution.run.about.pop("ended", None):
        execution.run.save_about()
    with pinned(execution.bench.cores.generator[0]):
        begun = time.monotonic()
        _run_order(execution, watcher)
        goal = execution.goal
        while goal and _widest(execution.run) > goal.until and time.monotonic() - begun < goal.max_time_s:
            _add_blocks(execution.run)
            _run_order(execution, watcher)
    execution.run.about["ended"] = _now()
    execution.run.save_about()
    return _succeeded(execution)


def _succeeded(execution: Execution) -> bool:
    last = {trial.number: trial for trial in execution.run.trials()}  # in order: the repeat takes the first one's place
    if any(is_setups_own(flag["reason"] for flag in trial.flags) for trial in last.values()):
        return False
    measured = {(trial.label, trial.test) for trial in last.values() if trial.status == "ok"}
    return all((slot.label, slot.test) in measured for slot in execution.order)


def _bench(study: Study, application: Application) -> Bench:
    """All that the trials share but for the contract. Raises UserError."""
    known = {setup.name: setup for setup in setups.find(entry.setup for entry in study.entries)}
    bench = Bench(setups.host(), setups.port(), cores.allot(os.environ.get("CORES")), known, application)
    require_free(bench.host, bench.port)
    for test in study.tests:
        engine = engines.get(test.engine)
        engine.require()
        engine.check(load_of(bench, test, f"http://{bench.host}:{bench.port}"))
        if test.kind == "capacity":
            find.require_known(search_of(test)[0])
    return bench


def _run_order(execution: Execution, watcher: Watcher) -> None:
    run = execution.run
    entries = {entry.label: entry for entry in execution.study.entries}
    tests = {test.name: test for test in execution.study.tests}
    done = {(trial.number, trial.attempt): trial for trial in run.trials()}
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


def _widest(run: store.Run) -> float:
    """The widest interval of the run's comparisons, as plus or minus a share; infinite while there is none."""
    return widest_interval(list(Results(run).comparisons.values()))


def _add_blocks(run: store.Run) -> None:
    """Two more blocks, a pair of mirrors, at the end of the order."""
    study = studies.from_dict(run.about["study"])
    longer = dataclasses.replace(study, blocks=study.blocks + 2 - study.blocks % 2)
    run.about["study"] = longer.to_dict()
    run.about["order"] = [slot.to_dict() for slot in schedule(longer, run.about["seed"])]
    run.save_about()


def _new_run(
    study: Study, folder: Path | None, seed: int | None, goal: Goal | None, bench: Bench, more: dict[str, Any]
) -> store.Run:
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
            "setups": {entry.label: _setup(bench, entry) for entry in study.entries},
            "seed": seed,
            "goal": dataclasses.asdict(goal) if goal else None,
            **more,
            "contract": bench.contract,
            "order": [slot.to_dict() for slot in schedule(study, seed)],
            "knobs": {name: os.environ[name] for name in setups.KNOBS if name in os.environ},
            "database": _database(),
            "cores": bench.cores.to_dict(),
            "machine": machine.describe(),
            "versions": machine.versions(),
            "git": machine.git(),
        },
    )


def _setup(bench: Bench, entry: Entry) -> dict[str, str]:
    """What run.json keeps of an entry's setup."""
    setup = bench.setups[entry.setup]
    return {"label": setup.label, "interface": setup.interface, "config": setup.file.read_text(encoding="utf-8")}


def _database() -> str | None:
    """DATABASE_URL without user and password; None where it is not set."""
    url = os.environ.get("DATABASE_URL")
    return re.sub(r"//[^/@]*@", "//", url) if url else None


def _now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def _free_folder(name: str) -> Path:
    folder = paths.RESULTS / name
    number = 2
    while folder.exists():
        folder = paths.RESULTS / f"{name}-{number}"
        number += 1
    return folder
