"""One trial: start a setup, wait until it is healthy, check the contract, warm up, measure, stop."""

from __future__ import annotations

import dataclasses
import datetime
import http.client
from collections.abc import Callable
from typing import Any

from loadtests import engines
from loadtests.analyse import validity
from loadtests.engines import EngineError, Load
from loadtests.observe import conditions, processes
from loadtests.observe.cores import Cores
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Entry, Test
from loadtests.serve.contract import show
from loadtests.serve.http import Answer, Request, ask
from loadtests.serve.serving import NotServing, Serving, serving
from loadtests.serve.setups import Setup
from loadtests.store import Trial

CONTRACT_TIMEOUT_S = 10.0
CHECKED_BODY_BYTES = 65536  # a longer body is compared once, before the load, and not again at every answer

OnSecond = Callable[[dict[str, Any]], None]


@dataclasses.dataclass
class Bench:
    """What the trials of a run share.

    ``expected`` holds the answer of the first healthy setup to each path: the contract that the others are held to.
    """

    host: str
    port: int
    cores: Cores
    setups: dict[str, Setup]
    expected: dict[str, Answer] = dataclasses.field(default_factory=dict)


def run_trial(bench: Bench, slot: Slot, entry: Entry, test: Test, attempt: int, on_second: OnSecond) -> Trial:
    """Runs one trial and judges it. Never raises for what a setup does wrong: that makes the trial invalid."""
    seen = _Seen()
    try:
        env = {**entry.env, "CORES": bench.cores.servers_list}
        with serving(bench.setups[entry.setup], env, bench.host, bench.port) as running:
            seen.evidence["started"] = True
            _measure(bench, running, test, on_second, seen)
    except NotServing as error:
        seen.evidence["started"] = False
        seen.log = f"{error}\n{error.log}".strip()
    flags = validity.judge(validity.Evidence(**seen.evidence, shared_core=bench.cores.shared))
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
        result=seen.result,
        processes=seen.processes,
        cores=bench.cores.to_dict(),
        log=seen.log,
    )


@dataclasses.dataclass
class _Seen:
    started: str = dataclasses.field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).isoformat())
    evidence: dict[str, Any] = dataclasses.field(default_factory=dict)
    result: dict[str, Any] | None = None
    processes: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    log: str = ""


def _measure(bench: Bench, running: Serving, test: Test, on_second: OnSecond, seen: _Seen) -> None:
    expected, broken = _contract(bench, running, test)
    if broken is not None:
        seen.evidence["contract_differences"] = 1
        seen.log = f"{broken}\n{running.logs()}".strip()
        return
    engine = engines.get(test.engine)
    load = Load(
        url=running.url + test.path,
        rate=test.rate,
        connections=test.connections,
        duration_s=test.duration_s,
        expect_body=expected.body if len(expected.body) <= CHECKED_BODY_BYTES else None,
        core=bench.cores.generator[0],
    )
    try:
        engine.run(dataclasses.replace(load, duration_s=test.warmup_s))
        before, first = running.programs(), conditions.now(bench.cores.servers)
        usage = processes.snapshot((program.role, program.pid) for program in before)
        result = engine.run(load, on_second)
    except EngineError as error:
        seen.evidence["sent"], seen.evidence["planned"] = 0, 1
        seen.log = str(error)
        return
    seen.processes = processes.difference(usage, processes.snapshot((program.role, program.pid) for program in before))
    own_cpu_s = sum(row["cpu_s"] for row in seen.processes)
    machine = conditions.between(first, conditions.now(bench.cores.servers), bench.cores.servers, own_cpu_s)
    pids = {program.pid for program in running.programs()}
    seen.result = result.to_dict()
    seen.evidence.update(
        contract_differences=result.errors.get("wrong-body", 0),
        processes_died=sum(program.pid not in pids for program in before),
        generator_cpu=max(row["cpu_s"] / row["wall_s"] for row in result.generator),
        send_lag_p99_ms=result.pacing_lag_ms["p99"],
        response_p50_ms=result.latency_ms["p50"],
        planned=result.planned if test.rate else None,
        sent=result.sent if test.rate else None,
        refused=result.errors.get("refused", 0),
        clock_jump_s=machine.clock_jump_s,
        swapped_pages=machine.swapped_pages,
        others_cpu=None if bench.cores.shared else machine.others_cpu,
    )
    if seen.evidence["processes_died"]:
        seen.log = running.logs()


def _contract(bench: Bench, running: Serving, test: Test) -> tuple[Answer, str | None]:
    """The answer to hold the setup to, and what is wrong with its own."""
    request = Request(test.name, path=test.path)
    try:
        found = ask(running.host, running.port, request, CONTRACT_TIMEOUT_S)
    except (OSError, http.client.HTTPException) as error:
        return Answer(0, "", b""), f"GET {test.path}: no answer ({error or type(error).__name__})"
    if found.status != 200:
        return found, f"GET {test.path}: answered {show(found)}; 200 is needed"
    expected = bench.expected.setdefault(test.path, found)
    if found != expected:
        return expected, f"GET {test.path}: answered {show(found)}; the others answered {show(expected)}"
    return expected, None
