"""One trial: start a setup, wait until it is healthy, check the contract, warm up, measure, stop."""

from __future__ import annotations

import dataclasses
import datetime
import statistics

from loadtests.analyse import validity
from loadtests.engines import EngineError
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.observe import conditions, processes
from loadtests.observe.conditions import Conditions
from loadtests.observe.processes import Usage
from loadtests.plan.kinds import Test
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Entry
from loadtests.records import CapacityRecord, Evidence, Process, Result, Trial
from loadtests.serve import contract
from loadtests.serve.base import NotServing, Server
from loadtests.workload import Load


def run_trial(bench: Bench, slot: Slot, entry: Entry, test: Test, attempt: int, on_second: OnSecond) -> Trial:
    """Runs one trial and judges it. Never raises for what a setup does wrong: that makes the trial invalid."""
    seen = _Seen()
    try:
        with bench.serving(entry, test.services) as running:
            _trial(bench, running, test, slot.chance(bench.seed), on_second, seen)
    except NotServing as error:
        if error.beside:
            seen.note(service_failed=True)
        else:
            seen.note(**{"recovered" if seen.evidence.started else "started": False})
        seen.log = f"{error}\n{error.log}".strip()
    seen.note(shared_core=bench.cores.shared)
    flags = validity.judge(seen.evidence)
    return Trial(
        number=slot.number,
        block=slot.block,
        label=entry.label,
        setup=entry.setup,
        test=test.name,
        attempt=attempt,
        started=seen.started,
        status="invalid" if any(flag.invalid for flag in flags) else "ok",
        flags=tuple(flags),
        evidence=seen.evidence,
        result=seen.result,
        capacity=seen.capacity,
        processes=seen.processes,
        cores=bench.cores.to_dict(),
        log=seen.log,
    )


@dataclasses.dataclass
class _Seen:
    """What a trial has found so far."""

    started: str = dataclasses.field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).isoformat())
    evidence: Evidence = dataclasses.field(default_factory=Evidence)
    result: Result | None = None
    capacity: CapacityRecord | None = None
    processes: tuple[Process, ...] = ()
    log: str = ""

    def note(self, **seen: object) -> None:
        """Adds to the evidence."""
        self.evidence = dataclasses.replace(self.evidence, **seen)  # type: ignore[arg-type]

    def keep(self, loaded: _Loaded) -> None:
        """Makes this load the trial's result."""
        self.result, self.processes = loaded.result, loaded.processes
        self.note(**capacity.generator_evidence(loaded.result))


@dataclasses.dataclass(frozen=True)
class _Loaded:
    """One load on a running setup, and what the setup and the machine did meanwhile."""

    result: Result
    processes: tuple[Process, ...]
    died: list[Usage]
    conditions: Conditions


def _trial(bench: Bench, running: Server, test: Test, chance: int, on_second: OnSecond, seen: _Seen) -> None:
    seen.note(started=True)
    requests = bench.application.addressed(test.requests)
    bodies, broken = contract.verified(running, requests, bench.contract[test.name])
    if broken:
        seen.note(contract_differences=len(broken))
        seen.log = "\n".join([*broken, running.logs()]).strip()
        return
    load = bench.load(test, running.url, bodies, chance)
    try:
        loads = _loads(bench, running, test, load, on_second, seen)
    except EngineError as error:
        seen.note(engine_failed=True)
        seen.log = str(error)
        return
    # A search is made of many loads: what happened in any of them happened to the trial.
    seen.note(
        contract_differences=sum(one.result.errors.get("wrong-body", 0) for one in loads),
        processes_died=sum(usage.charged for one in loads for usage in one.died),
        service_failed=any(not usage.charged for one in loads for usage in one.died) or None,
        clock_jump_s=max((one.conditions.clock_jump_s for one in loads), key=abs),
        swapped_pages=sum(one.conditions.swapped_pages for one in loads),
        others_cpu=None if bench.cores.shared else statistics.fmean(one.conditions.others_cpu for one in loads),
        frequency_change=_frequency_change(bench, loads[-1].conditions.mhz),
    )
    if load.rate is None or test.search is not None:
        seen.note(planned=None, sent=None)  # only a fixed rate plans a number
    if seen.evidence.processes_died or seen.evidence.service_failed:
        seen.log = running.logs()


def _loads(bench: Bench, running: Server, test: Test, load: Load, on_second: OnSecond, seen: _Seen) -> list[_Loaded]:
    """All loads of the trial: the one, or those of a search for its rate."""
    if test.search is not None:
        return _search(bench, running, test, load, test.search, on_second, seen)
    loaded = _load(bench, running, test, load, on_second)
    seen.keep(loaded)
    return [loaded]


def _frequency_change(bench: Bench, mhz: float | None) -> float | None:
    """The frequency against the typical one of the run's trials so far, minus 1; None where it is not known."""
    if mhz is None:
        return None
    bench.mhz.append(mhz)
    return mhz / statistics.median(bench.mhz) - 1


def _load(
    bench: Bench,
    running: Server,
    test: Test,
    load: Load,
    on_second: OnSecond,
    should_stop: ShouldStop | None = None,
) -> _Loaded:
    """One load, with the setup's processes and the machine read before and after."""
    host, cores = bench.host, bench.cores.servers
    parts = running.parts()
    usage: dict[int, Usage] = {}
    first = host.moment(cores)

    def on_start() -> None:
        nonlocal usage, first
        usage, first = host.usage(parts, running.folder), host.moment(cores)

    result = bench.engine(test.engine).run(load, on_second, should_stop, on_start)
    after = host.usage(parts, running.folder)
    rows = processes.difference(usage, after)
    machine = conditions.between(first, host.moment(cores), cores, sum(row.cpu_s for row in rows))
    # Workers that a server forks by itself are among them, which supervisor does not know of.
    died = [usage[pid] for pid in usage.keys() - after.keys()]
    return _Loaded(result, rows, died, machine)


def _search(
    bench: Bench,
    running: Server,
    test: Test,
    load: Load,
    search: tuple[Objective, SearchPlan],
    on_second: OnSecond,
    seen: _Seen,
) -> list[_Loaded]:
    """All that was measured in a search. The result is that of the probe that confirmed the rate, if any did."""
    loads: list[_Loaded] = []
    idle_s = running.seconds_to_answer()

    def run_load(probe: Load, watch: OnSecond, should_stop: ShouldStop) -> Result:
        if loads and not running.calm_down(idle_s):
            raise NotServing("did not recover from a probe", running.logs())
        if loads:
            probe = dataclasses.replace(probe, warmup_s=0.0)  # it is warm, and a probe may be too much for it
        loads.append(_load(bench, running, test, probe, watch, should_stop))
        return loads[-1].result

    found = capacity.find(load, *search, run_load, on_second, lambda probed: None)
    seen.capacity = found.record()
    if (confirming := found.confirming) is not None:
        seen.keep(loads[confirming])
    return loads
