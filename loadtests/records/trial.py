"""Define the record of a trial, which is a file below ``trials/``."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from msgspec import Meta

from loadtests.records.bounds import Amount, Count, Figures, Name, Number, Ordinal, Positive, about
from loadtests.records.during_load import HostConditions, Meanwhile
from loadtests.records.result import Result

COST_UNSEEN = "cost_unseen"  # The flag of a trial in which a part of the setup's cost was not observed.
GENERATOR_LIMITS = "generator_limits"  # The flag of a trial whose saturated generator makes the rate a lower bound.

# A gauge, such as ``pool in use``, and its readings. A reading contains the seconds after the start and the value.
GaugeName = Annotated[str, Meta(pattern=r"^[a-z][a-z ]{0,59}\Z")]
Reading = tuple[Amount, Count]
Readings = Annotated[tuple[Reading, ...], Meta(max_length=1_000_000)]

# The gauges of a PostgreSQL database that runs with the setup: during the load, after the load, and in total.
OPEN, IDLE, IN_TRANSACTION = "connections", "connections idle", "connections idle in transaction"
LEFT, OPENED, REFUSED = "connections left", "connections opened", "connections refused"
# The gauges of PgBouncer and of Django's connection pool.
AT_PGBOUNCER = "connections to pgbouncer"
POOL_WAITS, POOL_WAIT_MS = "waits for a connection", "waits for a connection in ms"

# A role is part of a metric's name, so it must not look like another metric's suffix.
Role = Annotated[str, Meta(pattern=r"^(?!.*_uncharged\Z)[A-Za-z0-9][A-Za-z0-9._+=-]{0,89}\Z")]


@dataclasses.dataclass(frozen=True)
class Process:
    """The resources that one process used during the measurement."""

    role: Annotated[Role, about("The process's role in the setup or service, such as web, worker or redis.")]
    name: Annotated[str, about("The process's name.")]
    pid: Annotated[Count, about("The process id.")]
    cpu_s: Annotated[Amount, about("The CPU seconds during the measurement.")]
    peak_rss_mb: Annotated[Amount, about("Peak memory, in MB.")]
    rss_mb: Annotated[Amount, about("The memory at the end of the measurement, in MB.")]
    context_switches: Annotated[Count | None, about("The context switches during the measurement, if known.")]
    requests: Annotated[Count | None, about("The requests that the process handled, if it counts them.")] = None
    charged: Annotated[bool, about("Whether the process counts towards the setup's cost, or is only shown.")] = True
    idle_rss_mb: Annotated[Amount | None, about("The memory before any load in MB, if the test needs it.")] = None
    step_rss_mb: Annotated[tuple[Amount, ...], about("The memory after each step of opening connections, in MB.")] = ()


@dataclasses.dataclass(frozen=True)
class Flag:
    """A reason why a trial is invalid or doubtful."""

    reason: Annotated[
        Annotated[str, Meta(pattern=r"^[a-z_]{1,100}\Z")], about("The reason's name (:doc:`/methodology` lists them).")
    ]
    severity: Annotated[Annotated[str, Meta(pattern=r"^(invalid|doubtful)\Z")], about("invalid or doubtful.")]
    sentence: Annotated[str, about("A description of the reason and a remedy.")]

    @property
    def invalid(self) -> bool:
        """Whether the trial is excluded from the figures."""
        return self.severity == "invalid"


@dataclasses.dataclass(frozen=True)
class Evidence:
    """The observations that decide whether a trial is valid.

    None means that a value isn't known, which never makes a trial invalid.
    """

    started: Annotated[bool | None, about("Whether the servers answered before the time limit for starting.")] = None
    contract_differences: Annotated[int | None, about("Answers (also under load) that break the contract.")] = None
    processes_died: Annotated[int | None, about("The charged processes that ended or were restarted.")] = None
    generator_cpu: Annotated[Number | None, about("CPU use of the generator's busiest process, in cores.")] = None
    send_lag_p99_ms: Annotated[Number | None, about("The p99 of the generator's own scheduling delay.")] = None
    response_p50_ms: Annotated[Number | None, about("Median response time.")] = None
    planned: Annotated[int | None, about("The planned requests, or null for closed loops and searches.")] = None
    sent: Annotated[
        int | None, about("The sent requests, or all planned requests if any request waited for a connection.")
    ] = None
    refused: Annotated[int, about("The planned requests for which the server didn't accept a connection.")] = 0
    clock_jump_s: Annotated[Number | None, about("The wall clock's elapsed time minus the monotonic clock's.")] = None
    swapped_pages: Annotated[int | None, about("The pages that the machine swapped in and out.")] = None
    other_load: Annotated[
        Number | None, about("The share of the servers' cores that other programs and steal time used.")
    ] = None
    frequency_change: Annotated[Number | None, about("CPU frequency relative to the run's typical frequency.")] = None
    shared_core: Annotated[bool | None, about("Whether the generator and the servers share a core.")] = None
    recovered: Annotated[bool | None, about("Whether the server recovered from each probe of a search.")] = None
    engine_failed: Annotated[bool | None, about("Whether the load generator failed.")] = None
    service_failed: Annotated[bool | None, about("Whether an uncharged service failed or ended.")] = None
    calibration_s: Annotated[
        tuple[Amount, ...], about("The seconds that the calibration loop took before each round.")
    ] = ()
    connection_lost: Annotated[bool | None, about("Whether the connection to the servers' host was lost.")] = None
    other_hosts: Annotated[tuple[HostConditions, ...], about("The conditions on the run's other hosts.")] = ()


@dataclasses.dataclass(frozen=True)
class ProbeRecord:
    rate: Annotated[Positive, about("The probe's rate.")]
    duration_s: Annotated[Positive, about("The probe's duration in seconds.")]
    purpose: Annotated[str, about("The purpose of the probe.")]
    outcome: Annotated[Annotated[str, Meta(pattern=r"^(pass|fail|invalid)\Z")], about("pass, fail or invalid.")]
    why: Annotated[str, about("A description of the outcome.")]
    planned: Annotated[Count, about("Requests in the schedule.")]
    ok: Annotated[Count, about("Requests that were answered as expected.")]
    errors: Annotated[Count, about("The requests that failed or were never answered.")]
    response_time_ms: Annotated[Figures, about("Response times.")]
    lag_ms: Annotated[Figures | None, about("The delivery times, if there were deliveries.")] = None
    delay_ms: Annotated[Figures | None, about("The delays of events, if there were streams.")] = None


@dataclasses.dataclass(frozen=True)
class CapacityRecord:
    """The outcome of a search for a capacity. Rates count the units of the test, such as deliveries for a broadcast."""

    rate: Annotated[Positive | None, about("The highest rate that passed, or null if no rate passed.")]
    above: Annotated[Positive | None, about("The lowest rate that didn't pass.")]
    limited_by: Annotated[
        Annotated[str, Meta(pattern=r"^(server|generator|max_rate|probes|time)\Z")],
        about("The limit of the search: server, generator, max_rate, probes, or time (only in ``capacity``)."),
    ]
    sentence: Annotated[str, about("A description of the outcome.")]
    objective: Annotated[str, about("The objective.")]
    probes: Annotated[tuple[ProbeRecord, ...], about("The probes.")]

    @property
    def known(self) -> float | None:
        """The server's capacity or its lower bound, or None if the search ran out of probes."""
        return None if self.limited_by == "probes" else self.rate

    @property
    def at_least(self) -> bool:
        """Whether the rate is a lower bound, because something other than the server ended the search."""
        return self.known is not None and self.limited_by != "server"


@dataclasses.dataclass(frozen=True)
class Trial:
    number: Annotated[Ordinal, about("The trial's number in the run's order.")]
    block: Annotated[Ordinal, about("The trial's block.")]
    label: Annotated[Name, about("The setup's label in the study.")]
    setup: Annotated[str, about("The setup's name.")]
    test: Annotated[Name, about("The test's name.")]
    attempt: Annotated[
        Ordinal, about("The number of the attempt. An invalid trial is repeated as attempt 2, in a separate file.")
    ]
    started: Annotated[str, about("The start (UTC).")]
    status: Annotated[Annotated[str, Meta(pattern=r"^(ok|invalid)\Z")], about("ok or invalid.")]
    flags: Annotated[tuple[Flag, ...], about("The reasons why the trial is invalid or doubtful.")] = ()
    result: Annotated[
        Result | None, about("The measurements. For a search, the measurements of the probe that confirmed its rate.")
    ] = None
    meanwhile: Annotated[Meanwhile | None, about("The observations during the load, or null in older runs.")] = None
    processes: Annotated[tuple[Process, ...], about("The processes of the setup and its services.")] = ()
    cores: Annotated[dict[str, tuple[int, ...]], about("The cores of the servers and of the generator.")] = (
        dataclasses.field(default_factory=dict)
    )
    evidence: Annotated[Evidence, about("The observations on which the flags are based.")] = dataclasses.field(
        default_factory=Evidence
    )
    capacity: Annotated[CapacityRecord | None, about("The outcome of a capacity test's search.")] = None
    log: Annotated[str, about("After a failure: the reason, and the end of the servers' logs.")] = ""
    gauges: Annotated[
        dict[GaugeName, Readings],
        about(
            "The gauges of the setup's processes, read ten times per second and added: pool in use, pool waiting "
            "(:doc:`/slow-origin`), and if PostgreSQL runs with the setup, connections (:doc:`/hopless`). A reading "
            "is a pair of the seconds after the start and the value."
        ),
    ] = dataclasses.field(default_factory=dict)

    @property
    def valid(self) -> bool:
        return self.status == "ok"

    @property
    def name(self) -> str:
        """The name of the trial's file without its suffix."""
        retry = f"-attempt{self.attempt}" if self.attempt > 1 else ""
        return f"{self.number:04d}-{self.label}-{self.test}{retry}"

    @property
    def generator_limits(self) -> bool:
        """Whether the generator was saturated before the setup."""
        return any(flag.reason == GENERATOR_LIMITS for flag in self.flags)

    @property
    def charged(self) -> tuple[Process, ...]:
        """The processes that count towards the setup's cost.

        Return an empty tuple if some processes were not observed, because a partial sum isn't the cost.
        """
        if any(flag.reason == COST_UNSEEN for flag in self.flags):
            return ()
        return tuple(process for process in self.processes if process.charged)
