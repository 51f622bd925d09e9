"""Run a single trial: start a setup, wait until it is healthy, check the contract, warm up, measure, and stop."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from loadtests.engines import EngineError
from loadtests.engines.base import OnMoment, OnSecond, PreparedLoad, SlicingEngine, Watch
from loadtests.hosts import ConnectionLost
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.contract_check import verified
from loadtests.measure.observation import (
    LoadObservation,
    PlannedTrial,
    TrialBuilder,
    ended,
    observe_load,
    on_other_hosts,
)
from loadtests.observe import conditions, processes
from loadtests.observe.processes import Usage
from loadtests.plan.database_times import left_after_s
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Deployment, Meanwhile, Process, Result, Trial
from loadtests.records.result import BROKEN
from loadtests.serve.serving import NotServing, Serving
from loadtests.workload import Load

STEP_SETTLED_S = 1.0  # after this time, the temporary memory of handshakes is freed
BEFORE_S = 3.5  # the seconds before the replacement, so that three full seconds of the load are undisturbed
BEFORE = 1 / 3  # the maximum of BEFORE_S, as a share of the load's duration


def run_trial(bench: Bench, planned: PlannedTrial, on_second: OnSecond) -> Trial:
    """Run and judge one trial. A setup's failure makes the trial invalid and never raises an error."""
    builder = TrialBuilder()
    try:
        with bench.serving(planned.entry, planned.test.start_options) as server:
            _TrialRun(bench, planned, server, on_second, builder).run()
    except NotServing as error:
        builder.failed(error)
    except ConnectionLost as error:
        builder.connection_lost(error)
    return builder.trial(bench, planned)


@dataclasses.dataclass(frozen=True)
class _Measured:
    """The result and the observations of one load.

    ``steps`` contains the resource use by pid after each step in which connections were opened.
    """

    result: Result
    observed: LoadObservation
    steps: tuple[Mapping[int, Usage], ...] = ()


@dataclasses.dataclass(frozen=True)
class _TrialRun:
    """A trial on a running setup."""

    bench: Bench
    planned: PlannedTrial
    server: Serving
    on_second: OnSecond
    builder: TrialBuilder

    def run(self) -> None:
        """Check the contract, run all loads, and collect the results."""
        bench, test, entry, builder = self.bench, self.planned.test, self.planned.entry, self.builder
        builder.note(started=True)
        checked = verified(bench, self.server, test, entry)
        if checked.broken:
            builder.breaks_contract(checked.broken, self.server.logs())
            return
        load = bench.load(test, self.server.url, checked.bodies, self.planned.slot.load_seed(bench.seed), entry)
        load = dataclasses.replace(load, ca=self.server.ca, cookies=checked.cookies)
        try:
            loads = self._loads(load)
        except EngineError as error:
            builder.engine_failed(error)
            return
        builder.add(bench, [one.observed for one in loads], [one.result for one in loads])
        if test.work.deployment:
            builder.note(other_load=None)  # other load isn't known, because the CPU use of ended processes isn't known
        if load.rate is None or test.search is not None:
            builder.note(planned=None, sent=None)  # only a load with a fixed rate has planned requests
        found = builder.evidence
        if found.contract_differences or found.processes_died or found.service_failed:
            examples = [text for one in loads for kind, text in one.result.examples.items() if kind in BROKEN]
            builder.log = "\n".join([*examples[:1], self.server.logs()]).strip()

    def _loads(self, load: Load) -> list[_Measured]:
        """Run the load of the trial, or all probes of a search."""
        test = self.planned.test
        if test.search is not None:
            return self._search(load, *test.search)
        if test.work.deployment:
            return [self._deployed(load, test.work.deployment)]
        everything = [*self.server.parts(), *self.bench.host.parts()]
        at_rest = self.bench.host.usage(everything, self.server.folder) if test.needs_memory_at_rest else None
        measured = self._measure(load, Watch(self.on_second))
        used = measured.observed.processes
        self._keep(measured, used if at_rest is None else processes.since_rest(used, at_rest, measured.steps))
        return [measured]

    def _keep(self, measured: _Measured, used: tuple[Process, ...]) -> None:
        self.builder.keep(measured.result, used)
        self.builder.gauges = measured.observed.gauges
        self.builder.meanwhile = measured.observed.meanwhile

    def _measure(self, load: Load, watch: Watch) -> _Measured:
        """Run one load without slices."""
        engine = self.bench.engine(self.planned.test.engine)
        if load.conversation is not None and isinstance(engine, SlicingEngine):
            return self._conversation(engine, load, watch)
        results: list[Result] = []
        observed = observe_load(
            self.bench,
            self.server,
            lambda begin, end: results.append(engine.run(load, dataclasses.replace(watch, on_start=begin, on_end=end))),
            left_after_s=left_after_s(self.planned.test.services, load.duration_s),
        )
        return _Measured(results[0], observed)

    def _conversation(self, engine: SlicingEngine, load: Load, watch: Watch) -> _Measured:
        """Run one load over WebSockets, and observe it while the connections are open.

        Closing the connections isn't part of the load, but it uses CPU time and frees memory.
        """
        with engine.generator(load.processes, load.core) as maker:
            prepared = maker.prepare(load)
            steps = self._open_in_steps(load, prepared)
            if load.warmup_s:
                prepared.warm_up(load.warmup_s)

            def make(begin: OnMoment, end: OnMoment) -> None:
                begin()
                prepared.measure(load.duration_s, watch=watch)
                end()

            observed = observe_load(self.bench, self.server, make)
            return _Measured(prepared.result(), observed, steps)

    def _open_in_steps(self, load: Load, prepared: PreparedLoad) -> tuple[Mapping[int, Usage], ...]:
        """Open the load's connections, and return the resource use by pid after each step.

        For a single step, return an empty tuple.
        """
        steps = load.conversation.steps if load.conversation else 1
        if steps == 1:
            return ()
        usage = []
        for step in range(steps):
            if step:  # the connections of the first step are already open
                prepared.step()
            time.sleep(STEP_SETTLED_S)
            usage.append(self.bench.host.usage(self.server.parts(), self.server.folder))
        return tuple(usage)

    def _deployed(self, load: Load, way: str) -> _Measured:
        """Run one load while the server's processes are replaced.

        The CPU time of these processes isn't known, because it can't be read after they end.
        """
        host, cores, server = self.bench.host, self.bench.cores.servers, self.server
        ways = {"restart": server.restart, "reload": server.reload, "kill": server.kill_worker}
        began_s: list[float] = []
        engine = self.bench.engine(self.planned.test.engine)
        assert isinstance(engine, SlicingEngine)

        def deploy() -> None:
            if way in ways:
                time.sleep(min(BEFORE_S, load.duration_s * BEFORE))
                began_s.append(time.monotonic())
                ways[way]()

        def used() -> dict[int, Usage]:
            usage = host.usage(server.parts(), server.folder)
            return {pid: one for pid, one in usage.items() if one.charged}

        with engine.generator(load.processes, load.core) as maker, ThreadPoolExecutor(1) as thread:
            prepared = maker.prepare(load)
            if load.warmup_s:
                prepared.warm_up(load.warmup_s)
            own, before, others = used(), host.moment(cores), host.load_elsewhere()
            start_s = time.monotonic()
            deploying = thread.submit(deploy)
            failed = Watch(self.on_second, lambda: deploying.done() and deploying.exception() is not None)
            prepared.measure(load.duration_s, watch=failed)
            deploying.result()
            left = used()
            machine = conditions.between(before, host.moment(cores), cores, 0.0)
            others_after = on_other_hosts(others, host.load_elsewhere())
            deployment = Deployment(
                way,
                round(began_s[0] - start_s, 3) if began_s else None,
                len(ended(own, left)),
                *(round(sum(one.rss_mb for one in usage.values()), 2) for usage in (own, left)),
            )
            seen = Meanwhile(deployment=deployment)
            observed = LoadObservation((), {}, {}, machine, meanwhile=seen, other_hosts=others_after)
            measured = _Measured(prepared.result(), observed)
            self._keep(measured, ())
            return measured

    def _search(self, load: Load, objective: Objective, plan: SearchPlan) -> list[_Measured]:
        """Run all probes of a search.

        If a probe confirmed the capacity, the trial's result is the result of the last confirming probe.
        """
        loads: list[_Measured] = []
        idle_s = self.server.seconds_to_answer()

        def run_load(probe: Load, watch: Watch) -> Result:
            if loads and not self.server.calm_down(idle_s):
                raise NotServing("did not recover from a probe", self.server.logs())
            if loads and probe.users is None:  # users arrive one after the other, so the probe needs the warm-up
                probe = dataclasses.replace(probe, warmup_s=0.0)  # the server is warm, and the probe may overload it
            loads.append(self._measure(probe, watch.shared_with(self.on_second)))
            return loads[-1].result

        found = capacity.find(load, objective, plan, run_load)
        self.builder.capacity = found.record()
        if found.confirming is not None:
            confirming = loads[found.confirming]
            self._keep(confirming, confirming.observed.processes)
        return loads
