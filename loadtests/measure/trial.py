"""Run a single trial: start a setup, wait until it is healthy, check the contract, warm up, measure, and stop."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from loadtests.engines import EngineError
from loadtests.engines.base import OnMoment, OnSecond, Watch
from loadtests.hosts import ConnectionLost
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.observation import LoadObservation, PlannedTrial, TrialBuilder, ended, observe_load
from loadtests.observe import processes
from loadtests.observe.processes import Usage
from loadtests.plan.database_times import left_after_s
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Deployment, Meanwhile, Result, Trial
from loadtests.serve.serving import NotServing, Serving
from loadtests.workload import Load

STEP_SETTLED_S = 1.0  # after this time, the temporary memory of handshakes is freed
BEFORE_S = 3.5  # the seconds before the replacement, so that three full seconds of the load are undisturbed
BEFORE = 1 / 3  # the maximum of BEFORE_S, as a share of the load's duration

Measured = tuple[Result, LoadObservation]


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
    except EngineError as error:
        builder.engine_failed(error)
    return builder.trial(bench, planned)


@dataclasses.dataclass(frozen=True)
class _TrialRun:
    """A trial on a running setup."""

    bench: Bench
    planned: PlannedTrial
    server: Serving
    on_second: OnSecond
    builder: TrialBuilder

    def run(self) -> None:
        """Check the contract, run the load of the trial, or all probes of a search, and collect the results."""
        test = self.planned.test
        load = self.builder.checked_load(self.bench, self.server, self.planned)
        if load is None:
            return
        if test.search is not None:
            loads = self._search(load, *test.search)
        elif test.deployment:
            loads = [self._deployed(load, test.deployment)]
        else:
            loads = [self._whole(load)]
        self.builder.add(self.bench, self.server, test, [seen for _, seen in loads], [result for result, _ in loads])
        if test.deployment:  # other load isn't known, because the CPU use of ended processes isn't known
            self.builder.note(other_load=None)

    def _measure(self, load: Load, watch: Watch) -> Measured:
        """Run and observe one load in one piece. ``watch`` is also called at the start and the end of the load."""
        engine = self.bench.engine(self.planned.test.engine)
        results: list[Result] = []

        def make(begin: OnMoment, end: OnMoment) -> None:
            def on_start() -> None:
                begin()
                watch.on_start()

            def on_end() -> None:
                watch.on_end()
                end()

            results.append(engine.run(load, dataclasses.replace(watch, on_start=on_start, on_end=on_end)))

        left_s = left_after_s(self.planned.test.services, load.duration_s)
        observed = observe_load(self.bench, self.server, make, left_after_s=left_s)
        return results[0], observed

    def _whole(self, load: Load) -> Measured:
        """Run the only load of a trial, and record the memory at rest and after each step."""
        host, server = self.bench.host, self.server
        steps: list[Mapping[int, Usage]] = []

        def on_step() -> None:
            time.sleep(STEP_SETTLED_S)
            steps.append(host.usage(server.parts(), server.folder))

        everything = [*server.parts(), *host.parts()]
        at_rest = host.usage(everything, server.folder)
        result, observed = self._measure(load, Watch(self.on_second, on_step=on_step))
        self.builder.keep(result, [observed])
        self.builder.processes = processes.since_rest(observed.processes, at_rest, steps)
        return result, observed

    def _deployed(self, load: Load, way: str) -> Measured:
        """Run one load while the server's processes are replaced.

        The CPU time of these processes isn't known, because it can't be read after they end.
        """
        server = self.server
        ways = {"restart": server.restart, "reload": server.reload, "kill": server.kill_worker}
        began_s: list[float] = []

        def deploy() -> None:
            if way in ways:
                start_s = time.monotonic()
                time.sleep(min(BEFORE_S, load.duration_s * BEFORE))
                began_s.append(time.monotonic() - start_s)
                ways[way]()

        deploying: list[Future[None]] = []
        with ThreadPoolExecutor(1) as thread:
            watch = Watch(
                self.on_second,
                should_stop=lambda: deploying[0].done() and deploying[0].exception() is not None,
                on_start=lambda: deploying.append(thread.submit(deploy)),
                on_end=lambda: deploying[0].result(),
            )
            result, observed = self._measure(load, watch)
        own, left = (
            {pid: one for pid, one in usage.items() if one.charged} for usage in (observed.before, observed.after)
        )
        deployment = Deployment(
            way,
            round(began_s[0], 3) if began_s else None,
            len(ended(own, left)),
            *(round(sum(one.rss_mb for one in usage.values()), 2) for usage in (own, left)),
        )
        observed = LoadObservation((), {}, {}, observed.conditions, other_hosts=observed.other_hosts)
        self.builder.keep(result, [observed])
        self.builder.meanwhile = Meanwhile(deployment=deployment)
        return result, observed

    def _search(self, load: Load, objective: Objective, plan: SearchPlan) -> list[Measured]:
        """Run all probes of a search.

        If a probe confirmed the capacity, the trial's result is the result of the last confirming probe.
        """
        loads: list[Measured] = []
        idle_s = self.server.seconds_to_answer()

        def run_load(probe: Load, watch: Watch) -> Result:
            if loads and not self.server.calm_down(idle_s):
                raise NotServing("did not recover from a probe", self.server.logs())
            if loads and probe.users is None:  # users arrive one after the other, so the probe needs the warm-up
                probe = dataclasses.replace(probe, warmup_s=0.0)  # the server is warm, and the probe may overload it
            loads.append(self._measure(probe, watch.shared_with(self.on_second)))
            return loads[-1][0]

        found = capacity.find(load, objective, plan, run_load)
        self.builder.capacity = found
        confirming = capacity.confirming(found)
        if confirming is not None:
            result, observed = loads[confirming]
            self.builder.keep(result, [observed])
        return loads
