"""Observe a load, and create the record of its trial."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from loadtests.analyse import validity
from loadtests.analyse.refused import refusal
from loadtests.engines.base import OnMoment
from loadtests.measure import capacity
from loadtests.measure.bench import Bench
from loadtests.measure.load_watch import LoadWatch
from loadtests.observe import conditions, gauges, other_load, processes
from loadtests.observe.conditions import Conditions, Moment
from loadtests.observe.connections import ConnectionWatch
from loadtests.observe.gauges import Series
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Usage
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.schedule import Slot
from loadtests.records import CapacityRecord, Evidence, HostConditions, Meanwhile, Process, Result, Trial
from loadtests.serve.serving import NotServing, Serving
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
    """The observations of a load or a slice.

    ``processes`` and ``conditions`` describe the time of the load. ``before`` and ``after`` contain the resource use of
    processes at the start and at the end, by pid. ``other_hosts`` contains the conditions on the run's other hosts, by
    address.
    """

    processes: tuple[Process, ...]
    before: Mapping[int, Usage]
    after: Mapping[int, Usage]
    conditions: Conditions
    gauges: Series = dataclasses.field(default_factory=dict)
    meanwhile: Meanwhile = dataclasses.field(default_factory=Meanwhile)
    other_hosts: Mapping[str, Conditions] = dataclasses.field(default_factory=dict)

    @property
    def died(self) -> list[Usage]:
        """The processes that ended during the load, including workers that a server forked."""
        return ended(self.before, self.after)


def ended(before: Mapping[int, Usage], after: Mapping[int, Usage]) -> list[Usage]:
    """Return the processes that ended, which are in ``before`` but not in ``after``."""
    return [before[pid] for pid in before.keys() - after.keys()]


def observe_load(
    bench: Bench,
    server: Serving,
    make: Callable[[OnMoment, OnMoment], None],
    settle_s: float = 0.0,
    left_after_s: float = 0.0,
) -> LoadObservation:
    """Generate load on a running setup, and observe its processes and the machine.

    Args:
        bench: The context that all trials of the run share.
        server: The running setup.
        make: Generates the load. It calls its two arguments right before and right after the observed time.
        settle_s: The seconds at the start of the load that the gauges leave out.
        left_after_s: The seconds to wait after the load before the remaining database connections are counted.
    """
    host, cores = bench.host, bench.cores.servers
    parts = [*server.parts(), *host.parts()]
    usage: list[dict[int, Usage]] = []
    machine: list[Moment] = []
    others: list[Mapping[str, OthersMoment]] = []
    pools = gauges.GaugeWatch(server.folder)
    database = ConnectionWatch(server.folder)
    watch = LoadWatch(host, server)

    def look() -> None:
        usage.append(host.usage(parts, server.folder))
        machine.append(host.moment(cores))

    def begin() -> None:
        watch.prepare()
        look()
        pools.begin()
        database.begin()
        others.append(host.load_elsewhere())
        watch.start()

    def end() -> None:
        look()
        others.append(host.load_elsewhere())

    try:
        make(begin, end)
        meanwhile = watch.observed()
        connections = database.end(settle_s, left_after_s)
    finally:
        watch.stop()
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
        on_other_hosts(*others),
    )


def on_other_hosts(before: Mapping[str, OthersMoment], after: Mapping[str, OthersMoment]) -> dict[str, Conditions]:
    """Return the conditions on the run's other hosts between two moments, by address."""
    return {name: other_load.between(before[name], after[name]) for name in before.keys() & after.keys()}


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

    def failed(self, error: NotServing) -> None:
        """Record that the setup or a supporting service has failed."""
        if error.of_service:
            self.note(service_failed=True)
        else:
            self.note(**{"recovered" if self.evidence.started else "started": False})
        self.log = f"{error}\n{error.log}".strip()

    def breaks_contract(self, differences: Sequence[str], logs: str) -> None:
        """Record that answers differ from the contract."""
        self.note(contract_differences=len(differences))
        self.log = "\n".join([*differences, logs]).strip()

    def engine_failed(self, error: Exception) -> None:
        """Record that the engine has failed."""
        self.note(engine_failed=True)
        self.log = str(error)

    def connection_lost(self, error: Exception) -> None:
        """Discard everything, because the connection to the servers' host was lost."""
        self.evidence, self.result, self.capacity, self.processes = Evidence(connection_lost=True), None, None, ()
        self.log = str(error)

    def keep(self, result: Result, used: tuple[Process, ...]) -> None:
        """Store the result and the processes."""
        self.result, self.processes = result, used
        self.note(**capacity.generator_evidence(result))

    def add(self, bench: Bench, loads: Sequence[LoadObservation], results: Sequence[Result]) -> None:
        """Add the observations of all loads of the trial, and of the times between the loads."""
        between = [ended(one.after, other.before) for one, other in itertools.pairwise(loads)]
        died = [usage for gone in (*(one.died for one in loads), *between) for usage in gone]
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
        why = refusal(self.result, planned.test.work.sign_in)
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
