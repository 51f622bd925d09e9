"""Observe a load, and create the record of its trial."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from loadtests.engines.base import OnMoment
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.contract_check import checked_load
from loadtests.measure.load_watch import CpuWatch, OriginWatch, one_origin
from loadtests.observe import conditions, gauges, other_load, processes
from loadtests.observe.conditions import Conditions, Moment
from loadtests.observe.connections import ConnectionWatch
from loadtests.observe.gauges import Series
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Usage
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.records import CapacityRecord, CpuSample, Evidence, HostConditions, Meanwhile, Process, Result, Trial
from loadtests.records.result import BROKEN
from loadtests.serve.serving import NotServing, Serving
from loadtests.trials import validity
from loadtests.trials.refused import refusal
from loadtests.workload import Load
from loadtests.workload.secrets import without_accounts


@dataclasses.dataclass(frozen=True)
class PlannedTrial:
    """A planned trial: its slot in the order, the entry, the test, and the number of the attempt."""

    slot: Slot
    entry: Entry
    test: Test
    attempt: int

    def __str__(self) -> str:
        again = " (again)" if self.attempt > 1 else ""
        return f"{self.entry.label}, {self.test.name}{again}"


@dataclasses.dataclass(frozen=True)
class LoadObservation:
    """The observations of a slice, or of a whole load, which is one long slice.

    ``processes`` and ``conditions`` describe the time of the load. ``before`` and ``after`` contain the resource use of
    processes at the start and at the end, by pid. ``other_hosts`` contains the conditions on the run's other hosts, by
    address. ``settle_s`` and ``measured_s`` are the seconds until the load settled, and the measured seconds.
    """

    processes: tuple[Process, ...]
    before: Mapping[int, Usage]
    after: Mapping[int, Usage]
    conditions: Conditions
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile = dataclasses.field(default_factory=Meanwhile)
    other_hosts: Mapping[str, Conditions] = dataclasses.field(default_factory=dict)
    settle_s: float = 0.0
    measured_s: float = math.inf


def ended(before: Mapping[int, Usage], after: Mapping[int, Usage]) -> list[Usage]:
    """Return the processes that ended, which are in ``before`` but not in ``after``."""
    return [before[pid] for pid in before.keys() - after.keys()]


def observe_load(
    bench: Bench,
    server: Serving,
    make: Callable[[OnMoment, OnMoment], None],
    settle_s: float = 0.0,
    measured_s: float = math.inf,
    left_after_s: float = 0.0,
) -> LoadObservation:
    """Generate load on a running setup, and observe its processes and the machine.

    Args:
        bench: The context that all trials of the run share.
        server: The running setup.
        make: Generates the load. It calls its two arguments right before and right after the observed time.
        settle_s: The seconds at the start of the load that aren't measured.
        measured_s: The measured seconds of a slice, or infinity for a whole load.
        left_after_s: The seconds to wait after the load before the remaining database connections are counted.
    """
    host, cores = bench.host, bench.cores.servers
    parts = [*server.parts(), *host.parts()]
    usage: list[dict[int, Usage]] = []
    machine: list[Moment] = []
    others: list[Mapping[str, OthersMoment]] = []
    pools = gauges.GaugeWatch(server.folder)
    database = ConnectionWatch(server.folder)
    cpu, origin = CpuWatch(host, server), OriginWatch(server.folder)

    def look() -> None:
        usage.append(host.usage(parts, server.folder))
        machine.append(host.moment(cores))

    def begin() -> None:
        cpu.find_processes()
        look()
        pools.begin()
        database.begin()
        others.append(host.load_elsewhere())
        cpu.start()
        origin.restart()  # this is the last step, so that the stages of the recipe start with the load

    def end() -> None:
        look()
        others.append(host.load_elsewhere())

    try:
        make(begin, end)
        meanwhile = Meanwhile(cpu.stop(), origin.observed())
        connections = database.end(settle_s, left_after_s)
    finally:
        cpu.stop()
        database.close()
        series = pools.end(settle_s)
    rows = processes.difference(usage[0], usage[1])
    elsewhere = {part.role for part in parts if part.elsewhere}
    own_cpu_s = sum(row.cpu_s for row in rows if row.role not in elsewhere)
    return LoadObservation(
        rows,
        usage[0],
        host.usage(parts, server.folder),  # read again, because a process may have died after the observed time
        conditions.between(machine[0], machine[1], cores, own_cpu_s),
        series | connections,
        meanwhile,
        {name: other_load.between(others[0][name], others[1][name]) for name in others[0].keys() & others[1].keys()},
        settle_s,
        measured_s,
    )


def joined(slices: Sequence[LoadObservation]) -> Meanwhile:
    """Join the observations of several slices on a common time axis, which contains only the measured seconds."""
    cpu: list[CpuSample] = []
    measured_s = 0.0
    for one in slices:
        for sample in one.meanwhile.cpu:
            within = min(max(0.0, sample.t - one.settle_s), one.measured_s)
            cpu.append(dataclasses.replace(sample, t=round(measured_s + within, 3)))
        measured_s += one.measured_s
    return Meanwhile(tuple(cpu), one_origin([(one.settle_s, one.meanwhile.origin) for one in slices]))


@dataclasses.dataclass
class TrialBuilder:
    """Collect the observations of a trial, and create its record."""

    started: str = dataclasses.field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat())
    evidence: Evidence = dataclasses.field(default_factory=Evidence)
    result: Result | None = None
    capacity: CapacityRecord | None = None
    processes: tuple[Process, ...] = ()
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile | None = None
    log: str = ""

    @property
    def over(self) -> bool:
        """Whether a failure makes further measurements pointless."""
        found = self.evidence
        failed = found.contract_differences or found.connection_lost or found.service_failed
        return found.started is False or found.recovered is False or bool(failed)

    def note(self, **evidence: object) -> None:
        """Set fields of the evidence to new values."""
        self.evidence = dataclasses.replace(self.evidence, **evidence)  # type: ignore[arg-type]

    def checked_load(self, bench: Bench, server: Serving, planned: PlannedTrial) -> Load | None:
        """Check the contract of a running setup. Return the load, or None if the setup breaks its contract."""
        self.note(started=True)
        chance = planned.slot.load_seed(bench.seed)
        load, broken = checked_load(bench, server, planned.test, planned.entry, chance)
        if not broken:
            return load
        self.note(contract_differences=len(broken))
        self.log = "\n".join([*broken, server.logs()]).strip()
        return None

    def failed(self, error: NotServing) -> None:
        """Record that the setup or a supporting service has failed."""
        if error.of_service:
            self.note(service_failed=True)
        else:
            self.note(**{"recovered" if self.evidence.started else "started": False})
        self.log = f"{error}\n{error.log}".strip()

    def engine_failed(self, error: Exception) -> None:
        """Record that the engine has failed."""
        self.note(engine_failed=True)
        self.log = str(error)

    def connection_lost(self, error: Exception) -> None:
        """Discard everything, because the connection to the servers' host was lost."""
        self.evidence, self.result, self.capacity, self.processes = Evidence(connection_lost=True), None, None, ()
        self.log = str(error)

    def keep(self, result: Result, slices: Sequence[LoadObservation]) -> None:
        """Store the result of a load, and the observations of its slices."""
        self.result = result
        self.processes = processes.together(one.processes for one in slices)
        self.gauges = gauges.joined([one.gauges for one in slices], [one.measured_s for one in slices])
        self.meanwhile = joined(slices)
        self.note(**capacity.generator_evidence(result))

    def add(
        self,
        bench: Bench,
        server: Serving,
        test: Test,
        loads: Sequence[LoadObservation],
        results: Sequence[Result],
    ) -> None:
        """Add the observations of all loads or slices of the trial, and of the times between them."""
        during = [ended(one.before, one.after) for one in loads]  # including workers that a server forked
        between = [ended(one.after, other.before) for one, other in itertools.pairwise(loads)]
        died = [usage for gone in (*during, *between) for usage in gone]
        machine = conditions.together([one.conditions for one in loads])
        self.note(
            contract_differences=sum(result.contradicting for result in results),
            processes_died=sum(usage.charged for usage in died),
            service_failed=any(not usage.charged for usage in died) or None,
            clock_jump_s=machine.clock_jump_s,
            swapped_pages=machine.swapped_pages,
            other_load=None if bench.cores.shared else machine.other_load,
            frequency_change=_frequency_change(bench, None, machine.mhz),
            other_hosts=_other_hosts(bench, loads, results),
        )
        if test.pace.rate_found is None:
            self.note(planned=None, sent=None)  # only a load with a fixed rate has planned requests
        found = self.evidence
        if found.contract_differences or found.processes_died or found.service_failed:
            examples = [text for result in results for kind, text in result.examples.items() if kind in BROKEN]
            self.log = "\n".join([*examples[:1], server.logs()]).strip()

    def calibrated(self, servers: Sequence[float], other_hosts: Mapping[str, Sequence[float]]) -> None:
        """Add the calibration times of the servers' host, and of the other hosts by address."""
        rows = (
            dataclasses.replace(one, calibration_s=tuple(other_hosts.get(one.machine, ())))
            for one in self.evidence.other_hosts
        )
        self.note(calibration_s=tuple(servers), other_hosts=tuple(rows))

    def trial(self, bench: Bench, planned: PlannedTrial) -> Trial:
        """Return the judged trial."""
        self.note(shared_core=bench.cores.shared)
        why = refusal(self.result, planned.test.sign_in)
        self.log = without_accounts(f"{why}\n{self.log}".strip())  # run folders must not contain passwords
        charged = set(bench.setups[planned.entry.setup].charges)
        unseen = sorted(charged - {process.role for process in self.processes}) if self.processes else []
        result = None if planned.test.search else self.result
        flags = validity.judge(self.evidence, result, unseen, planned.test.pace.is_closed_loop)
        return Trial(
            number=planned.slot.number,
            block=planned.slot.block,
            label=planned.entry.label,
            setup=planned.entry.setup,
            test=planned.test.name,
            attempt=planned.attempt,
            status="invalid" if any(flag.invalid for flag in flags) else "ok",
            flags=tuple(flags),
            cores=bench.cores.to_dict(planned.entry.env),
            **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)},
        )


def _other_hosts(
    bench: Bench, loads: Sequence[LoadObservation], results: Sequence[Result]
) -> tuple[HostConditions, ...]:
    """Return the conditions on the run's other hosts.

    These are the hosts that the servers' host observes, and the clients in the results.
    """
    observed: defaultdict[str, list[Conditions]] = defaultdict(list)
    for load in loads:
        for name, found in load.other_hosts.items():
            observed[name].append(found)
    known = set(observed)
    for one in itertools.chain.from_iterable(result.generator for result in results):
        if one.other_load is not None:
            observed[one.machine].append(Conditions(one.wall_s, 0.0, one.other_load, one.swapped_pages or 0, one.mhz))
    rows = []
    for name, several in sorted(observed.items()):
        total = conditions.together(several)
        generates = not name or name not in known  # except this machine, all hosts in known run services
        change = _frequency_change(bench, name, total.mhz)
        rows.append(HostConditions(name, generates, round(total.other_load, 4), total.swapped_pages, change))
    return tuple(rows)


def _frequency_change(bench: Bench, machine: str | None, mhz: float | None) -> float | None:
    """Return the relative difference between a machine's frequency and the median of the run's trials so far.

    ``machine`` is None for the servers' machine.
    """
    if mhz is None:
        return None
    before = bench.mhz.setdefault(machine, [])
    before.append(mhz)
    return mhz / statistics.median(before) - 1
