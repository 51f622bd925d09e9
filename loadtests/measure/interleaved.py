"""Run trials of several setups at the same time, each on its own port, and alternate the load between them.

Each setup is started once for all of its tests. In a test, the generator sends a slice of load (see
``loadtests.plan.slices``) to one setup after the other, round after round. The connections stay open, and the start of
each slice isn't measured. All slices of a setup are one trial: the histograms are merged, and the counts and costs are
added.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial

from loadtests.engines import EngineError
from loadtests.engines.base import OnMoment, SlicingEngine
from loadtests.engines.node import NodeGenerator, NodeLoad
from loadtests.hosts import ConnectionLost
from loadtests.measure.bench import Bench
from loadtests.measure.contract_check import requests_of
from loadtests.measure.observation import LoadObservation, PlannedTrial, TrialBuilder, observe_load
from loadtests.plan import slices
from loadtests.plan.kinds.base import START_S, StartOptions
from loadtests.plan.schedule import GENERATOR_S
from loadtests.records import Trial
from loadtests.serve import health
from loadtests.serve.serving import NotServing, Serving

# The time for which connections may be idle during the slices of other setups. A server closes a connection earlier
# only if KEEP_ALIVE is set.
IDLE_S = 50.0
# If a slice takes this much longer than planned, it left unfinished work behind, which would disturb the other setups.
OVERTIME_S = 1.0

MAX_TIMED = 8  # the response time at rest is measured for at most 8 requests of a mix
ANSWERED_WITHIN_S = 10.0

OnStep = Callable[[str, float], None]
"""A function that is called with the name of the next step and its estimated duration in seconds."""


def run_interleaved(
    bench: Bench, planned: Sequence[PlannedTrial], on_step: OnStep
) -> Generator[Sequence[Trial], None, None]:
    """Run the trials of a block, test after test, and judge them.

    A setup's failure makes its trials invalid and never raises an error.
    """
    for start_options in dict.fromkeys(one.test.start_options for one in planned):
        group = [one for one in planned if one.test.start_options == start_options]
        tests = list(dict.fromkeys(one.test.name for one in group))
        while tests:  # if the connection to the servers is lost, start the setups again for the remaining tests
            with contextlib.ExitStack() as stack:
                block = _Block(bench, on_step)
                block.start(group, start_options, stack)
                while tests:
                    test = tests.pop(0)
                    yield block.trials([one for one in group if one.test.name == test])
                    if block.lost is not None:
                        break


@dataclasses.dataclass
class _Measured:
    """A running setup in one test, with its load and the observations of the slices so far.

    ``healthy_in_s`` and ``answers_in_s`` are the response times at rest, for the health check and for the test's
    requests.
    """

    planned: PlannedTrial
    server: Serving
    builder: TrialBuilder
    load: NodeLoad
    healthy_in_s: float
    answers_in_s: float
    slices: list[LoadObservation] = dataclasses.field(default_factory=list)
    in_vain: int = 0
    """The number of slices whose outstanding requests weren't answered in time."""


@dataclasses.dataclass
class _Block:
    """The setups of a block that run at the same time.

    Attributes:
        servers: By label, the running server of each setup, or the error if the setup didn't start.
        lost: The error if the connection to the servers' host was lost.
    """

    bench: Bench
    on_step: OnStep
    servers: dict[str, Serving | NotServing] = dataclasses.field(default_factory=dict)
    calibration_s: list[float] = dataclasses.field(default_factory=list)
    other_calibrations_s: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    lost: ConnectionLost | None = None

    def start(self, planned: Sequence[PlannedTrial], start_options: StartOptions, stack: contextlib.ExitStack) -> None:
        """Start the setups, each with its own supporting services. Closing the stack stops the setups and services."""
        entries = {one.entry.label: one.entry for one in planned}
        try:
            for port, (label, entry) in zip(self.bench.ports(len(entries)), entries.items(), strict=True):
                self.on_step(f"starting {label}", START_S)
                try:
                    self.servers[label] = stack.enter_context(self.bench.serving(entry, start_options, port))
                except NotServing as error:
                    self.servers[label] = error
        except ConnectionLost as error:
            self.lost = error

    def trials(self, planned: Sequence[PlannedTrial]) -> list[Trial]:
        """Run the trials of one test."""
        builders = {one.entry.label: TrialBuilder() for one in planned}
        self.calibration_s, self.other_calibrations_s = [], {}
        try:
            if self.lost is None:
                self._measure(planned, builders)
        except EngineError as error:
            for builder in builders.values():
                if builder.result is None and not builder.over:
                    builder.engine_failed(error)
        except ConnectionLost as error:
            self.lost = error
        for builder in builders.values():
            if self.lost is not None:
                builder.connection_lost(self.lost)
            builder.calibrated(self.calibration_s, self.other_calibrations_s)
        return [builders[one.entry.label].trial(self.bench, one) for one in planned]

    def _measure(self, planned: Sequence[PlannedTrial], builders: dict[str, TrialBuilder]) -> None:
        test, chance = planned[0].test, planned[0].slot.load_seed(self.bench.seed)
        engine = self.bench.engine(test.engine)
        assert isinstance(engine, SlicingEngine)
        self.on_step(f"{test.name}: starting the generator", GENERATOR_S)
        with engine.generator(self.bench.clients.parts, self.bench.cores.generator[0]) as maker:
            ready = [self._ready(one, builders[one.entry.label], maker) for one in planned]
            measured = {one.planned.entry.label: one for one in ready if one is not None}
            answer_s = max((one.answers_in_s for one in measured.values()), default=0.0)
            settle_s, lengths = slices.settle(answer_s), slices.slices(test.pace.seconds, answer_s)
            # Each attempt runs the setups in a different order.
            rounds = slices.orders(list(measured), len(lengths), chance + planned[0].attempt - 1)
            for seconds, labels in zip(lengths, rounds, strict=True):
                self._calibrate(maker)
                for label in labels:
                    if not measured[label].builder.over:
                        self.on_step(f"{label}, {test.name}", slices.seconds(seconds))
                        self._slice(measured[label], settle_s, seconds)
            for one in measured.values():
                if not one.builder.over:
                    self._keep(one)

    def _calibrate(self, maker: NodeGenerator) -> None:
        """Measure the current speed of all machines."""
        host = self.bench.host
        self.calibration_s.append(round(host.calibrate(self.bench.cores.servers[0]), 4))
        for name, seconds in {**host.calibrations_elsewhere(), **maker.spins()}.items():
            self.other_calibrations_s.setdefault(name, []).append(round(seconds, 4))

    def _ready(self, planned: PlannedTrial, builder: TrialBuilder, maker: NodeGenerator) -> _Measured | None:
        """Warm up a setup. If the setup can't be measured, return None and record the reason in the builder."""
        test, server = planned.test, self.servers[planned.entry.label]
        self.on_step(f"{planned}: warming up", test.warmup_s)
        if isinstance(server, NotServing):
            builder.failed(server)
            return None
        load = builder.checked_load(self.bench, server, planned)
        if load is None:
            return None
        requests = requests_of(self.bench, test, load.cookies)[:MAX_TIMED]
        try:
            healthy_in_s = server.seconds_to_answer()
            answers = (partial(server.ask, request, ANSWERED_WITHIN_S) for request in requests)
            answers_in_s = max(map(health.seconds_to_answer, answers), default=healthy_in_s)
        except (OSError, http.client.HTTPException) as error:
            builder.failed(NotServing(f"stopped answering: {error}", server.logs()))
            return None
        load = dataclasses.replace(load, idle_s=IDLE_S, answer_s=answers_in_s, grace_s=test.slice_grace_s)
        prepared = maker.prepare(load)
        if test.warmup_s:
            prepared.warm_up(test.warmup_s)
        return _Measured(planned, server, builder, prepared, healthy_in_s, answers_in_s)

    def _slice(self, one: _Measured, settle_s: float, seconds: float) -> None:
        first_s = one.planned.test.slice_grace_s
        grace_s = None if first_s is None else slices.grace(first_s, one.in_vain)

        def make(begin: OnMoment, end: OnMoment) -> None:
            begin()
            one.in_vain += one.load.measure(seconds, settle_s=settle_s, grace_s=grace_s)
            end()

        begun = time.monotonic()
        one.slices.append(observe_load(self.bench, one.server, make, settle_s, seconds))
        overtime = time.monotonic() - begun > settle_s + seconds + OVERTIME_S
        if overtime and not one.server.calm_down(one.healthy_in_s):
            where = f"{one.planned.entry.label} stopped answering in slice {len(one.slices)}"
            one.builder.failed(NotServing(where, one.server.logs()))

    def _keep(self, one: _Measured) -> None:
        """Combine the results of all slices of a setup."""
        result = one.load.result()
        one.builder.keep(result, one.slices)
        one.builder.add(self.bench, one.server, one.planned.test, one.slices, [result])
