"""What a trial finds: the evidence, what was measured, and the trial that is made of it."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from loadtests.analyse import validity
from loadtests.engines.base import OnEnd, OnStart
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.trial_watch import Watch
from loadtests.observe import conditions, gauges, other_load, processes
from loadtests.observe.conditions import Conditions, Moment
from loadtests.observe.gauges import Series
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Usage
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Entry
from loadtests.records import CapacityRecord, Evidence, MachineBeside, Meanwhile, Process, Result, Trial
from loadtests.serve.base import NotServing, Server


@dataclasses.dataclass(frozen=True)
class TrialPlace:
    """What a trial is of: its slot in the order, the entry and the test; and which attempt it is."""

    slot: Slot
    entry: Entry
    test: Test
    attempt: int

    def __str__(self) -> str:
        again = " (again)" if self.attempt > 1 else ""
        return f"{self.entry.label}, {self.test.name}{again}"


NOTHING_SEEN = Meanwhile()


@dataclasses.dataclass(frozen=True)
class Stretch:
    """A stretch of time in which load was made: what the setup's processes used in it, what happened on the machine,
    and what their gauges showed, from the load's begin on; and what they had used before it, and when all was over, by
    pid. ``beside`` is what happened on the machines beside (see ``Host.load_elsewhere``), by their addresses."""

    processes: tuple[Process, ...]
    before: Mapping[int, Usage]
    after: Mapping[int, Usage]
    conditions: Conditions
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile = NOTHING_SEEN
    beside: Mapping[str, Conditions] = dataclasses.field(default_factory=dict)

    @property
    def died(self) -> list[Usage]:
        """What was lost meanwhile. Workers that a server forks by itself are among them, which supervisor does not know
        of."""
        return lost(self.before, self.after)


def lost(before: Mapping[int, Usage], after: Mapping[int, Usage]) -> list[Usage]:
    """The processes that there were and are not."""
    return [before[pid] for pid in before.keys() - after.keys()]


@dataclasses.dataclass(frozen=True)
class _Look:
    """What the setup's processes have used by a moment, by pid, and the machine at it."""

    usage: dict[int, Usage]
    machine: Moment


def stretch(bench: Bench, running: Server, make: Callable[[OnStart, OnEnd], None], settle_s: float = 0.0) -> Stretch:
    """Makes load on a running setup, whose processes and machine are read before and after, and whose gauges meanwhile.

    ``make`` is handed what it is to call right before that of which the use is to be known, and right after it. The
    first ``settle_s`` seconds of that are none of what the gauges are to tell of.
    """
    host, cores = bench.host, bench.cores.servers
    parts = [*running.parts(), *host.parts()]
    looks: list[_Look] = []
    moments: list[Mapping[str, OthersMoment]] = []
    pools = gauges.GaugeWatch(running.folder)

    def look() -> None:
        looks.append(_Look(host.usage(parts, running.folder), host.moment(cores)))

    def begin() -> None:
        look()
        pools.begin()
        moments.append(host.load_elsewhere())

    def end() -> None:
        look()
        moments.append(host.load_elsewhere())

    try:
        with Watch(host, running) as watch:
            make(watch.beginning(begin), end)
            meanwhile = watch.seen()
    finally:
        shown = pools.end(settle_s)
    first, last = looks
    rows = processes.difference(first.usage, last.usage)
    elsewhere = {part.role for part in parts if part.elsewhere}
    own_cpu_s = sum(row.cpu_s for row in rows if row.role not in elsewhere)
    machine = conditions.between(first.machine, last.machine, cores, own_cpu_s)
    # Whoever died may have done so in the grace period.
    return Stretch(rows, first.usage, host.usage(parts, running.folder), machine, shown, meanwhile, beside(*moments))


def beside(before: Mapping[str, OthersMoment], after: Mapping[str, OthersMoment]) -> dict[str, Conditions]:
    """What happened in between on the machines beside, by their addresses."""
    return {name: other_load.between(before[name], after[name]) for name in before.keys() & after.keys()}


@dataclasses.dataclass
class Seen:
    """What a trial has found so far."""

    started: str = dataclasses.field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc).isoformat())
    evidence: Evidence = dataclasses.field(default_factory=Evidence)
    result: Result | None = None
    capacity: CapacityRecord | None = None
    processes: tuple[Process, ...] = ()
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile | None = None
    log: str = ""

    @property
    def ended(self) -> bool:
        """Whether it is known already that nothing can be measured."""
        seen = self.evidence
        broken = seen.started is False or seen.recovered is False or bool(seen.contract_differences)
        broken = broken or bool(seen.connection_lost)
        return broken or bool(seen.service_failed)

    def note(self, **seen: object) -> None:
        """Adds to the evidence."""
        self.evidence = dataclasses.replace(self.evidence, **seen)  # type: ignore[arg-type]

    def failed(self, error: NotServing) -> None:
        """A setup, or a service beside it, did not come up, or broke."""
        if error.of_service:
            self.note(service_failed=True)
        else:
            self.note(**{"recovered" if self.evidence.started else "started": False})
        self.log = f"{error}\n{error.log}".strip()

    def differs(self, broken: Sequence[str], logs: str) -> None:
        """It did not answer as the contract says; ``broken`` says where."""
        self.note(contract_differences=len(broken))
        self.log = "\n".join([*broken, logs]).strip()

    def engine_failed(self, error: Exception) -> None:
        """The engine broke off."""
        self.note(engine_failed=True)
        self.log = str(error)

    def connection_lost(self, error: Exception) -> None:
        """The way to the servers' machine was lost meanwhile: whatever else was seen says nothing."""
        self.evidence, self.result, self.capacity, self.processes = Evidence(connection_lost=True), None, None, ()
        self.log = str(error)

    def keep(self, result: Result, used: tuple[Process, ...]) -> None:
        """This was measured."""
        self.result, self.processes = result, used
        self.note(**capacity.generator_evidence(result))

    def happened(self, bench: Bench, stretches: Sequence[Stretch], results: Sequence[Result]) -> None:
        """A trial is made of many loads: what happened in any of them, or between two, happened to the trial."""
        between = [lost(one.after, other.before) for one, other in itertools.pairwise(stretches)]
        died = [usage for gone in (*(one.died for one in stretches), *between) for usage in gone]
        machine = conditions.together([one.conditions for one in stretches])
        self.note(
            contract_differences=sum(result.contradicting for result in results),
            processes_died=sum(usage.charged for usage in died),
            service_failed=any(not usage.charged for usage in died) or None,
            clock_jump_s=machine.clock_jump_s,
            swapped_pages=machine.swapped_pages,
            others_cpu=None if bench.cores.shared else machine.others_cpu,
            frequency_change=_frequency_change(bench, None, machine.mhz),
            beside=_beside(bench, stretches, results),
        )

    def spun(self, servers: Sequence[float], beside: Mapping[str, Sequence[float]]) -> None:
        """The speeds of the machines that were seen meanwhile."""
        rows = (dataclasses.replace(one, spins_s=tuple(beside.get(one.machine, ()))) for one in self.evidence.beside)
        self.note(spins_s=tuple(servers), beside=tuple(rows))

    def trial(self, bench: Bench, place: TrialPlace) -> Trial:
        """The trial, judged."""
        self.note(shared_core=bench.cores.shared)
        paid_for = set(bench.setups[place.entry.setup].charges)
        unseen = sorted(paid_for - {process.role for process in self.processes}) if self.processes else []
        result = None if place.test.search else self.result
        flags = validity.judge(self.evidence, result, unseen, place.test.closed_loop)
        return Trial(
            number=place.slot.number,
            block=place.slot.block,
            label=place.entry.label,
            setup=place.entry.setup,
            test=place.test.name,
            attempt=place.attempt,
            started=self.started,
            status="invalid" if any(flag.invalid for flag in flags) else "ok",
            flags=tuple(flags),
            evidence=self.evidence,
            result=self.result,
            capacity=self.capacity,
            processes=self.processes,
            cores=bench.cores.to_dict(place.entry.env),
            log=self.log,
            gauges=self.gauges,
            meanwhile=self.meanwhile,
        )


def _beside(bench: Bench, stretches: Sequence[Stretch], results: Sequence[Result]) -> tuple[MachineBeside, ...]:
    """What happened on the machines beside that of the servers: those that the host knows of, and further clients,
    which say so with what they measured."""
    seen: defaultdict[str, list[Conditions]] = defaultdict(list)
    for stretch in stretches:
        for name, of_stretch in stretch.beside.items():
            seen[name].append(of_stretch)
    for one in itertools.chain.from_iterable(result.generator for result in results):
        if one.others_cpu is not None:
            told = Conditions(one.wall_s, 0.0, one.others_cpu, one.swapped_pages or 0, one.mhz)
            seen[one.machine].append(told)
    of_host = {name for stretch in stretches for name in stretch.beside}
    rows = []
    for name, several in sorted(seen.items()):
        all_of_it = conditions.together(several)
        generates = not name or name not in of_host  # the host knows of services, and of the harness's machine
        change = _frequency_change(bench, name, all_of_it.mhz)
        taken = round(all_of_it.others_cpu, 4)
        rows.append(MachineBeside(name, generates, taken, all_of_it.swapped_pages, change))
    return tuple(rows)


def _frequency_change(bench: Bench, machine: str | None, mhz: float | None) -> float | None:
    """The frequency of a machine (None: the servers') against the typical one of the run's trials so far, minus 1; None
    where it is not known."""
    if mhz is None:
        return None
    before = bench.mhz.setdefault(machine, [])
    before.append(mhz)
    return mhz / statistics.median(before) - 1
