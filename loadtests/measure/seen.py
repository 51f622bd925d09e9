"""What a trial finds: the evidence, what was measured, and the trial that is made of it."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence

from loadtests.analyse import validity
from loadtests.engines.base import OnEnd, OnStart
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.watch import Watch
from loadtests.observe import conditions, gauges, processes
from loadtests.observe.conditions import Conditions, Moment
from loadtests.observe.gauges import Series
from loadtests.observe.processes import Usage
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.plan.study import Entry
from loadtests.records import CapacityRecord, Evidence, Meanwhile, Process, Result, Trial
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
    pid."""

    processes: tuple[Process, ...]
    before: Mapping[int, Usage]
    after: Mapping[int, Usage]
    conditions: Conditions
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile = NOTHING_SEEN

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
    pools = gauges.GaugeWatch(running.folder)

    def look() -> None:
        looks.append(_Look(host.usage(parts, running.folder), host.moment(cores)))

    def begin() -> None:
        look()
        pools.begin()

    try:
        with Watch(host, running) as watch:
            make(watch.beginning(begin), look)
            meanwhile = watch.seen()
    finally:
        shown = pools.end(settle_s)
    first, last = looks
    rows = processes.difference(first.usage, last.usage)
    elsewhere = {part.role for part in parts if part.elsewhere}
    own_cpu_s = sum(row.cpu_s for row in rows if row.role not in elsewhere)
    machine = conditions.between(first.machine, last.machine, cores, own_cpu_s)
    # Whoever died may have done so in the grace period.
    return Stretch(rows, first.usage, host.usage(parts, running.folder), machine, shown, meanwhile)


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
        if error.beside:
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

    def happened(self, bench: Bench, stretches: Sequence[Stretch], wrong_bodies: int) -> None:
        """A trial is made of many loads: what happened in any of them, or between two, happened to the trial."""
        between = [lost(one.after, other.before) for one, other in itertools.pairwise(stretches)]
        died = [usage for gone in (*(one.died for one in stretches), *between) for usage in gone]
        self.note(
            contract_differences=wrong_bodies,
            processes_died=sum(usage.charged for usage in died),
            service_failed=any(not usage.charged for usage in died) or None,
            clock_jump_s=max((one.conditions.clock_jump_s for one in stretches), key=abs),
            swapped_pages=sum(one.conditions.swapped_pages for one in stretches),
            others_cpu=None if bench.cores.shared else _others_cpu(stretches),
            frequency_change=_frequency_change(bench, _mhz(stretches)),
        )

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


def _others_cpu(stretches: Sequence[Stretch]) -> float:
    return statistics.fmean(one.conditions.others_cpu for one in stretches)


def _mhz(stretches: Sequence[Stretch]) -> float | None:
    known = [one.conditions.mhz for one in stretches if one.conditions.mhz is not None]
    return statistics.fmean(known) if known else None


def _frequency_change(bench: Bench, mhz: float | None) -> float | None:
    """The frequency against the typical one of the run's trials so far, minus 1; None where it is not known."""
    if mhz is None:
        return None
    bench.mhz.append(mhz)
    return mhz / statistics.median(bench.mhz) - 1
