"""Trials of several setups at once: all of them run, each on a port of its own, and are measured by turns.

Each is started once for all of its tests. In a test a generator asks one after the other for a moment (a slice, see
``loadtests.plan.slices``), round after round, over connections that stay open; what is sent in the first moments of a
slice is not measured. The slices of a setup are one trial: their histograms are merged, their counts and costs added
up.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import time
from collections.abc import Callable, Iterator, Sequence

from loadtests.engines import EngineError
from loadtests.engines.base import LoadMaker, OnEnd, OnStart, PreparedLoad, SlicingEngine
from loadtests.hosts import ConnectionLost
from loadtests.measure.bench import Bench
from loadtests.measure.contract_check import verified
from loadtests.measure.observation import Seen, Stretch, TrialPlace, stretch
from loadtests.measure.trial_watch import Lasted, joined
from loadtests.observe import gauges, processes
from loadtests.plan import slices
from loadtests.plan.kinds.base import START_S, StartOptions
from loadtests.plan.schedule import GENERATOR_S
from loadtests.records import Trial
from loadtests.serve import health
from loadtests.serve.base import NotServing, Server
from loadtests.workload import Request

# A connection may rest while all others are asked. Unless KEEP_ALIVE says less, no server closes it earlier.
IDLE_S = 50.0
# For so long it is seen what the setups take with nothing to do.
REST_S = 1.0
# A slice that takes so much longer than planned left something to be worked off, which others would bear.
OVERTIME_S = 1.0

MOST_TIMED = 8  # requests of a mix of which is seen how long they take at rest
ANSWERED_WITHIN_S = 10.0

Progress = Callable[[str, float], None]
"""Is told what is done now, and about how many seconds that takes."""


def run_by_turns(bench: Bench, places: Sequence[TrialPlace], doing: Progress) -> Iterator[Sequence[Trial]]:
    """The trials of some places of a block, test after test, judged. Never raises for what a setup does wrong: that
    makes its trials invalid."""
    for beside in dict.fromkeys(place.test.start_options for place in places):
        alike = [place for place in places if place.test.start_options == beside]
        tests = list(dict.fromkeys(place.test.name for place in alike))
        while tests:  # where the way to the servers is lost, they are started anew for those that are left
            with contextlib.ExitStack() as stack:
                turns = _Turns(bench, doing)
                turns.start(alike, beside, stack)
                while tests:
                    test = tests.pop(0)
                    yield turns.trials([place for place in alike if place.test.name == test])
                    if turns.lost is not None:
                        break


@dataclasses.dataclass
class _Asked:
    """A setup that is measured in a test: its place, its server, its load, how long it takes at rest to say that it is
    healthy and to answer what the test asks, what was seen of it in each slice, and how many seconds of each were
    measured."""

    place: TrialPlace
    server: Server
    seen: Seen
    load: PreparedLoad
    healthy_in_s: float
    answers_in_s: float
    stretches: list[Stretch] = dataclasses.field(default_factory=list)
    lasted: list[Lasted] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class _Turns:
    """The setups of a block that run at once, by their labels: the servers (for one that did not come up, why), and the
    CPU seconds a second that each takes with nothing to do; how long the same work took, round after round; and why
    the way to all of them is ``lost``, once it is."""

    bench: Bench
    doing: Progress
    servers: dict[str, Server | NotServing] = dataclasses.field(default_factory=dict)
    idle_cpu: dict[str, float] = dataclasses.field(default_factory=dict)
    spins_s: list[float] = dataclasses.field(default_factory=list)
    spins_beside_s: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    lost: ConnectionLost | None = None

    def start(self, places: Sequence[TrialPlace], beside: StartOptions, stack: contextlib.ExitStack) -> None:
        """Starts the setups of these places, each with what is beside it for itself, until the stack is closed."""
        try:
            self._start(places, beside, stack)
        except ConnectionLost as error:
            self.lost = error

    def _start(self, places: Sequence[TrialPlace], beside: StartOptions, stack: contextlib.ExitStack) -> None:
        entries = {place.entry.label: place.entry for place in places}
        for port, (label, entry) in zip(self.bench.ports(len(entries)), entries.items(), strict=True):
            self.doing(f"starting {label}", START_S)
            try:
                self.servers[label] = stack.enter_context(self.bench.serving(entry, beside, port))
            except NotServing as error:
                self.servers[label] = error
        if len(self.servers) > 1:  # one by itself disturbs nobody
            self._rest()

    def _rest(self) -> None:
        """Sees what they take with nothing to do."""
        running = {label: server for label, server in self.servers.items() if not isinstance(server, NotServing)}

        def used() -> dict[str, float]:
            host = self.bench.host
            usage = {label: host.usage(server.parts(), server.folder) for label, server in running.items()}
            return {label: sum(one.cpu_s for one in of_label.values()) for label, of_label in usage.items()}

        begun, before = time.monotonic(), used()
        time.sleep(REST_S)
        after, elapsed = used(), time.monotonic() - begun
        self.idle_cpu = {label: round((after[label] - before[label]) / elapsed, 3) for label in running}

    def trials(self, places: Sequence[TrialPlace]) -> list[Trial]:
        """The trials of one test."""
        seen = {place.entry.label: Seen() for place in places}
        self.spins_s, self.spins_beside_s = [], {}
        try:
            if self.lost is None:
                self._measure(places, seen)
        except EngineError as error:
            for one in seen.values():
                if one.result is None and not one.ended:
                    one.engine_failed(error)
        except ConnectionLost as error:
            self.lost = error
        if self.lost is not None:
            for one in seen.values():
                one.connection_lost(self.lost)
        for label, one in seen.items():
            one.note(idle_cpu=self.idle_cpu.get(label))
            one.spun(self.spins_s, self.spins_beside_s)
        return [seen[place.entry.label].trial(self.bench, place) for place in places]

    def _measure(self, places: Sequence[TrialPlace], seen: dict[str, Seen]) -> None:
        test, chance = places[0].test, places[0].slot.load_seed(self.bench.seed)
        engine = self.bench.engine(test.engine)
        assert isinstance(engine, SlicingEngine)
        self.doing(f"{test.name}: starting the generator", GENERATOR_S)
        with engine.generator(self.bench.clients.machines, self.bench.cores.generator[0]) as maker:
            ready = [self._ready(place, seen[place.entry.label], maker, chance) for place in places]
            asked = {one.place.entry.label: one for one in ready if one is not None}
            answer_s = max((one.answers_in_s for one in asked.values()), default=0.0)
            settle_s, lengths = slices.settle(answer_s), slices.slices(test.seconds, answer_s)
            # Another attempt has another order.
            rounds = slices.turns(list(asked), len(lengths), chance + places[0].attempt - 1)
            for seconds, labels in zip(lengths, rounds, strict=True):
                self._spin(maker)
                for label in labels:
                    if not asked[label].seen.ended:
                        self.doing(f"{label}, {test.name}", slices.seconds(seconds))
                        self._slice(asked[label], settle_s, seconds)
            for one in asked.values():
                if not one.seen.ended:
                    self._keep(one)

    def _spin(self, maker: LoadMaker) -> None:
        """Sees how fast all machines are just now."""
        host = self.bench.host
        self.spins_s.append(round(host.calibrate(self.bench.cores.servers[0]), 4))
        for name, seconds in {**host.calibrations_elsewhere(), **maker.spins()}.items():
            self.spins_beside_s.setdefault(name, []).append(round(seconds, 4))

    def _ready(self, place: TrialPlace, seen: Seen, maker: LoadMaker, chance: int) -> _Asked | None:
        """A setup that is warm; None for one that cannot be measured, of which ``seen`` then says why."""
        test, server = place.test, self.servers[place.entry.label]
        self.doing(f"{place}: warming up", test.warmup_s)
        if isinstance(server, NotServing):
            seen.failed(server)
            return None
        seen.note(started=True)
        bodies, broken = verified(self.bench, server, test, place.entry)
        if broken:
            seen.differs(broken, server.logs())
            return None
        requests = self.bench.application.addressed(test.requests)[:MOST_TIMED]
        try:
            healthy_in_s = server.seconds_to_answer()
            answers_in_s = max((_seconds_to_answer(server, request) for request in requests), default=healthy_in_s)
        except (OSError, http.client.HTTPException) as error:
            seen.failed(NotServing(f"stopped answering: {error}", server.logs()))
            return None
        load = self.bench.load(test, server.url, bodies, chance, place.entry)
        prepared = maker.prepare(dataclasses.replace(load, idle_s=IDLE_S))
        if test.warmup_s:
            prepared.warm_up(test.warmup_s)
        return _Asked(place, server, seen, prepared, healthy_in_s, answers_in_s)

    def _slice(self, one: _Asked, settle_s: float, seconds: float) -> None:
        def make(begin: OnStart, end: OnEnd) -> None:
            begin()
            one.load.measure(seconds, settle_s=settle_s)
            end()

        begun = time.monotonic()
        one.stretches.append(stretch(self.bench, one.server, make, settle_s))
        one.lasted.append(Lasted(settle_s, seconds, one.stretches[-1].meanwhile))
        late = time.monotonic() - begun > settle_s + seconds + OVERTIME_S
        if late and not one.server.calm_down(one.healthy_in_s):  # what it cannot work off, the others would bear
            one.seen.failed(NotServing("did not recover from a slice", one.server.logs()))

    def _keep(self, one: _Asked) -> None:
        """What all slices of a setup say."""
        result = one.load.result()
        one.seen.keep(result, processes.together(each.processes for each in one.stretches))
        one.seen.gauges = gauges.joined(
            [each.gauges for each in one.stretches], [each.measured_s for each in one.lasted]
        )
        one.seen.meanwhile = joined(one.lasted)
        one.seen.happened(self.bench, one.stretches, [result])
        if one.place.test.fixed_rate is None:
            one.seen.note(planned=None, sent=None)  # only a fixed rate plans a number
        if one.seen.evidence.processes_died or one.seen.evidence.service_failed:
            one.seen.log = one.server.logs()


def _seconds_to_answer(server: Server, request: Request) -> float:
    return health.seconds_to_answer(lambda: server.ask(request, ANSWERED_WITHIN_S))
