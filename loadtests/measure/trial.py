"""One trial by itself: start a setup, wait until it is healthy, check the contract, warm up, measure, stop."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from loadtests.engines import EngineError
from loadtests.engines.base import OnEnd, OnSecond, OnStart, ShouldStop, SlicingEngine
from loadtests.hosts import ConnectionLost
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.contract_check import verified
from loadtests.measure.observation import Seen, Stretch, TrialPlace, stretch
from loadtests.measure.restarting import restarting
from loadtests.measure.stepping import stepped
from loadtests.observe import processes
from loadtests.observe.processes import Usage
from loadtests.plan.kinds import Test
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Result, Trial
from loadtests.records.result import BROKEN
from loadtests.serve.base import NotServing, Server
from loadtests.workload import Load


def run_trial(bench: Bench, place: TrialPlace, on_second: OnSecond) -> Trial:
    """Runs one trial and judges it. Never raises for what a setup does wrong: that makes the trial invalid."""
    seen = Seen()
    try:
        with bench.serving(place.entry, place.test.start_options) as running:
            _trial(bench, running, place, on_second, seen)
    except NotServing as error:
        seen.failed(error)
    except ConnectionLost as error:
        seen.connection_lost(error)
    return seen.trial(bench, place)


@dataclasses.dataclass(frozen=True)
class _Loaded:
    """One load on a running setup, and what the setup and the machine did meanwhile; ``steps`` are what its processes
    had used after each of the steps in which connections were opened."""

    result: Result
    stretch: Stretch
    steps: tuple[Mapping[int, Usage], ...] = ()


def _trial(bench: Bench, running: Server, place: TrialPlace, on_second: OnSecond, seen: Seen) -> None:
    test = place.test
    seen.note(started=True)
    bodies, broken = verified(bench, running, test, place.entry)
    if broken:
        seen.differs(broken, running.logs())
        return
    load = bench.load(test, running.url, bodies, place.slot.load_seed(bench.seed), place.entry)
    try:
        loads = _loads(bench, running, test, load, on_second, seen)
    except EngineError as error:
        seen.engine_failed(error)
        return
    results = [one.result for one in loads]
    seen.happened(bench, [one.stretch for one in loads], results)
    if test.restarts:
        seen.note(others_cpu=None)  # what the processes took that ended is not told apart from what others did
    if load.rate is None or test.search is not None:
        seen.note(planned=None, sent=None)  # only a fixed rate plans a number
    if seen.evidence.contract_differences or seen.evidence.processes_died or seen.evidence.service_failed:
        examples = [text for one in loads for kind, text in one.result.examples.items() if kind in BROKEN]
        seen.log = "\n".join([*examples[:1], running.logs()]).strip()


def _loads(bench: Bench, running: Server, test: Test, load: Load, on_second: OnSecond, seen: Seen) -> list[_Loaded]:
    """All loads of the trial: the one, or those of a search for its rate."""
    if test.search is not None:
        return _search(bench, running, test, load, test.search, on_second, seen)
    if test.restarts:
        engine = bench.engine(test.engine)
        assert isinstance(engine, SlicingEngine)
        restarted = _Loaded(*restarting(bench, running, engine, load, on_second))
        seen.keep(restarted.result, ())
        return [restarted]
    everything = [*running.parts(), *bench.host.parts()]
    rested = bench.host.usage(everything, running.folder) if test.needs_memory_at_rest else None
    loaded = _load(bench, running, test, load, on_second)
    used = loaded.stretch.processes
    seen.keep(loaded.result, used if rested is None else processes.since_rest(used, rested, loaded.steps))
    seen.gauges = loaded.stretch.gauges
    seen.meanwhile = loaded.stretch.meanwhile
    return [loaded]


def _load(
    bench: Bench,
    running: Server,
    test: Test,
    load: Load,
    on_second: OnSecond,
    should_stop: ShouldStop | None = None,
) -> _Loaded:
    """One load, in one piece."""
    engine = bench.engine(test.engine)
    if load.conversation is not None and isinstance(engine, SlicingEngine):
        return _conversed(bench, running, engine, load, on_second, should_stop)
    results: list[Result] = []
    seen = stretch(
        bench, running, lambda begin, end: results.append(engine.run(load, on_second, should_stop, begin, end))
    )
    return _Loaded(results[0], seen)


def _conversed(
    bench: Bench,
    running: Server,
    engine: SlicingEngine,
    load: Load,
    on_second: OnSecond,
    should_stop: ShouldStop | None,
) -> _Loaded:
    """One load over connections that are held. What the setup uses is read while they are still open: a thousand that
    are closed give memory back and take CPU time, and neither is of what was measured."""
    with engine.generator(load.processes, load.core) as maker:
        prepared = maker.prepare(load)
        steps = stepped(bench, running, load, prepared)
        if load.warmup_s:
            prepared.warm_up(load.warmup_s)

        def make(begin: OnStart, end: OnEnd) -> None:
            begin()
            prepared.measure(load.duration_s, on_second=on_second, should_stop=should_stop)
            end()

        seen = stretch(bench, running, make)
        return _Loaded(prepared.result(), seen, steps)


def _search(
    bench: Bench,
    running: Server,
    test: Test,
    load: Load,
    search: tuple[Objective, SearchPlan],
    on_second: OnSecond,
    seen: Seen,
) -> list[_Loaded]:
    """All that was measured in a search. The result is that of the probe that confirmed the rate, if any did."""
    loads: list[_Loaded] = []
    idle_s = running.seconds_to_answer()

    def run_load(probe: Load, watch: OnSecond, should_stop: ShouldStop) -> Result:
        if loads and not running.calm_down(idle_s):
            raise NotServing("did not recover from a probe", running.logs())
        if loads and probe.users is None:  # users come one after the other, each time
            probe = dataclasses.replace(probe, warmup_s=0.0)  # it is warm, and a probe may be too much for it
        loads.append(_load(bench, running, test, probe, watch, should_stop))
        return loads[-1].result

    found = capacity.find(load, *search, run_load, on_second, lambda probed: None)
    seen.capacity = found.record()
    if (confirming := found.confirming) is not None:
        seen.keep(loads[confirming].result, loads[confirming].stretch.processes)
        seen.gauges = loads[confirming].stretch.gauges
        seen.meanwhile = loads[confirming].stretch.meanwhile
    return loads
