"""One trial: start a setup, wait until it is healthy, check the contract, warm up, measure, stop."""

from __future__ import annotations

import dataclasses
import datetime
import http.client
import statistics
from collections.abc import Sequence
from typing import Any

from loadtests import engines
from loadtests.analyse import validity
from loadtests.application import Application
from loadtests.engines import EngineError, Load, Result
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.measure import capacity as find
from loadtests.observe import conditions, processes
from loadtests.observe.conditions import Conditions
from loadtests.observe.cores import Cores
from loadtests.plan import objective
from loadtests.plan.objective import Objective
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Entry, Test
from loadtests.searches.capacity import Plan, Purpose
from loadtests.searches.judge import Outcome
from loadtests.serve.contract import digest, show
from loadtests.serve.http import CALM_S, ask, calm_down, seconds_to_answer
from loadtests.serve.serving import NotServing, Serving, serving
from loadtests.setups import Setup
from loadtests.store import Trial

CONTRACT_TIMEOUT_S = 10.0
CHECKED_BODY_BYTES = 65536  # a longer body is compared once, before the load, and not again at every answer


@dataclasses.dataclass
class Bench:
    """What the trials of a run share.

    ``contract`` is what the setups must answer, by test, request by request (see ``loadtests.measure.preflight``).
    """

    host: str
    port: int
    cores: Cores
    setups: dict[str, Setup]
    application: Application
    contract: dict[str, list[dict[str, Any]]] = dataclasses.field(default_factory=dict)
    mhz: list[float] = dataclasses.field(default_factory=list)


def run_trial(bench: Bench, slot: Slot, entry: Entry, test: Test, attempt: int, on_second: OnSecond) -> Trial:
    """Runs one trial and judges it. Never raises for what a setup does wrong: that makes the trial invalid."""
    seen = _Seen()
    try:
        env = {**entry.env, "CORES": bench.cores.servers_list}
        with serving(bench.setups[entry.setup], env, bench.host, bench.port, bench.application) as running:
            _trial(bench, running, test, on_second, seen)
    except NotServing as error:
        seen.evidence["recovered" if seen.evidence.get("started") else "started"] = False
        seen.log = f"{error}\n{error.log}".strip()
    evidence = validity.Evidence(**seen.evidence, shared_core=bench.cores.shared)
    flags = validity.judge(evidence)
    return Trial(
        number=slot.number,
        block=slot.block,
        label=entry.label,
        setup=entry.setup,
        test=test.name,
        attempt=attempt,
        started=seen.started,
        status="invalid" if validity.is_invalid(flags) else "ok",
        flags=[flag.as_dict() for flag in flags],
        evidence=validity.as_record(evidence),
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
    evidence: dict[str, Any] = dataclasses.field(default_factory=dict)
    result: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    processes: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    log: str = ""


@dataclasses.dataclass(frozen=True)
class _Measured:
    """One load on a running setup, and what the setup and the machine did meanwhile."""

    result: Result
    processes: list[dict[str, Any]]
    died: int
    conditions: Conditions


def _trial(bench: Bench, running: Serving, test: Test, on_second: OnSecond, seen: _Seen) -> None:
    seen.evidence["started"] = True
    bodies, broken = _contract(bench, running, test)
    if broken:
        seen.evidence["contract_differences"] = len(broken)
        seen.log = "\n".join([*broken, running.logs()]).strip()
        return
    load = load_of(bench, test, running.url, bodies)
    try:
        if test.kind == "capacity":
            measured = _capacity(bench, running, test, load, on_second, seen)
        else:
            measured = [_measure(bench, running, test, load, on_second)]
            _keep(measured[0], seen)
    except EngineError as error:
        seen.evidence["engine_failed"] = True
        seen.log = str(error)
        return
    # A search is made of many loads: what happened in any of them happened to the trial.
    seen.evidence.update(
        contract_differences=sum(one.result.errors.get("wrong-body", 0) for one in measured),
        processes_died=sum(one.died for one in measured),
        clock_jump_s=max((one.conditions.clock_jump_s for one in measured), key=abs),
        swapped_pages=sum(one.conditions.swapped_pages for one in measured),
        others_cpu=None if bench.cores.shared else statistics.fmean(one.conditions.others_cpu for one in measured),
        frequency_change=_frequency_change(bench, measured[-1].conditions.mhz),
    )
    if test.rate is None:
        seen.evidence.update(planned=None, sent=None)  # only a fixed rate plans a number
    if seen.evidence["processes_died"]:
        seen.log = running.logs()


def load_of(bench: Bench, test: Test, url: str, bodies: Sequence[bytes | None] = ()) -> Load:
    """The load that a test asks for, on a server at ``url`` (without a path).

    ``bodies`` are what its requests should be answered with (see Load). Raises UserError.
    """
    duration_s = test.duration_s or test.probe_s or test.warmup_s
    return Load(
        origin=url,
        requests=bench.application.addressed(test.requests),
        bodies=tuple(bodies),
        recorded=tuple(send for send in test.recorded if send[0] < duration_s),
        rate=test.rate or test.start_rate,
        connections=test.connections,
        duration_s=duration_s,
        warmup_s=test.warmup_s,
        core=bench.cores.generator[0],
    )


def _keep(measured: _Measured, seen: _Seen) -> None:
    """Makes this load the trial's result."""
    seen.result = measured.result.to_dict()
    seen.processes = measured.processes
    seen.evidence.update(find.generator_evidence(measured.result))


def _frequency_change(bench: Bench, mhz: float | None) -> float | None:
    """The frequency against the typical one of the run's trials so far, minus 1; None where it is not known."""
    if mhz is None:
        return None
    bench.mhz.append(mhz)
    return mhz / statistics.median(bench.mhz) - 1


def _measure(
    bench: Bench,
    running: Serving,
    test: Test,
    load: Load,
    on_second: OnSecond,
    should_stop: ShouldStop | None = None,
) -> _Measured:
    """One load, with the setup's processes and the machine read before and after."""
    cores = bench.cores.servers
    roles = [(program.role, program.pid) for program in running.programs()]
    usage: dict[int, processes.Usage] = {}
    first = conditions.now(cores)

    def on_start() -> None:
        nonlocal usage, first
        usage, first = processes.snapshot(roles, running.folder), conditions.now(cores)

    result = engines.get(test.engine).run(load, on_second, should_stop, on_start)
    after = processes.snapshot(roles, running.folder)
    rows = processes.difference(usage, after)
    machine = conditions.between(first, conditions.now(cores), cores, sum(row["cpu_s"] for row in rows))
    # Workers that a server forks by itself are among them, which supervisor does not know of.
    return _Measured(result, rows, len(usage.keys() - after.keys()), machine)


def _capacity(
    bench: Bench, running: Serving, test: Test, load: Load, on_second: OnSecond, seen: _Seen
) -> list[_Measured]:
    """The search, and all that was measured in it. The result is that of the probe that confirmed the rate, if any."""
    wanted, plan = search_of(test)
    measured: list[_Measured] = []
    idle_s = seconds_to_answer(running.host, running.port, running.health)

    def run_load(probe: Load, watch: OnSecond, should_stop: ShouldStop) -> Result:
        if measured and not calm_down(running.host, running.port, running.health, max(CALM_S, 3 * idle_s)):
            raise NotServing("did not recover from a probe", running.logs())
        if measured:
            probe = dataclasses.replace(probe, warmup_s=0.0)  # it is warm, and a probe may be too much for it
        measured.append(_measure(bench, running, test, probe, watch, should_stop))
        return measured[-1].result

    found = find.find(load, wanted, plan, run_load, on_second, lambda probed: None)
    seen.capacity = found.to_dict()
    for one, probed in zip(reversed(measured), reversed(found.probes), strict=True):
        passed = probed.judgement.outcome is Outcome.PASS and probed.probe.purpose is Purpose.CONFIRM
        if passed and probed.probe.rate == found.capacity.rate:
            _keep(one, seen)
            break
    return measured


def search_of(test: Test) -> tuple[Objective, Plan]:
    """The objective and the search that a capacity test asks for."""
    assert test.objective is not None
    assert test.start_rate is not None
    assert test.max_rate is not None
    assert test.probe_s is not None
    assert test.confirm_s is not None
    plan = Plan(start_rate=test.start_rate, max_rate=test.max_rate, short_s=test.probe_s, long_s=test.confirm_s)
    return objective.parse(test.objective), plan


def _contract(bench: Bench, running: Serving, test: Test) -> tuple[list[bytes | None], list[str]]:
    """The bodies that the requests of a test are answered with, as far as they are compared, and what is wrong."""
    bodies: list[bytes | None] = []
    broken: list[str] = []
    for request, expected in zip(bench.application.addressed(test.requests), bench.contract[test.name], strict=True):
        shown = f"{request.method} {request.path}"
        try:
            found = ask(running.host, running.port, request, CONTRACT_TIMEOUT_S)
        except (OSError, http.client.HTTPException) as error:
            broken.append(f"{shown}: no answer ({error or type(error).__name__})")
            continue
        compared = expected["sha256"] is not None
        if (found.status, found.content_type) != (expected["status"], expected["content_type"]) or (
            compared and digest(found.body) != expected["sha256"]
        ):
            theirs = f"{expected['status']} {expected['content_type']}"
            if compared:
                theirs += f", SHA-256 {expected['sha256'][:12]}"
            broken.append(f"{shown}: answered {show(found)}; the baseline answered {theirs}")
        bodies.append(found.body if compared and len(found.body) <= CHECKED_BODY_BYTES else None)
    return bodies, broken
