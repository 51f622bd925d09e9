"""One trial as it was measured: what a file below ``trials/`` holds."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from msgspec import Meta

from loadtests.records.bounds import Amount, Count, Name, Number, Ordinal, Positive
from loadtests.records.machine_beside import MachineBeside
from loadtests.records.meanwhile import Meanwhile
from loadtests.records.result import Figures, Result

COST_UNSEEN = "cost_unseen"  # the reason of a flag: not all that the setup pays for was seen
GENERATOR_LIMITS = "generator_limits"  # likewise: the generator could ask no faster, so the rate is a lower bound

# What a gauge shows, such as ``pool in use``, and what it showed when: seconds after the start, and the value.
GaugeName = Annotated[str, Meta(pattern=r"^[a-z][a-z ]{0,59}\Z")]
Shown = tuple[Amount, Count]

# In the name of a metric: nothing that would make it another's.
Role = Annotated[str, Meta(pattern=r"^(?!.*_uncharged\Z)[A-Za-z0-9][A-Za-z0-9._+=-]{0,89}\Z")]


@dataclasses.dataclass(frozen=True)
class Process:
    """What one process used while it was measured: CPU seconds and context switches in that time, memory at its end.

    ``role`` is its part in the setup or service (web, worker, redis). One that is not ``charged`` stands beside the
    setup, as an origin or a database does: it is shown, and not part of what the setup costs. ``requests`` is how many
    it handled, where it counts them. ``rested_rss_mb`` is its memory before there was any load, where that was
    looked at; 0 where it was not there yet. ``stepped_rss_mb`` is the same after each of the steps in which they were
    opened (``Connections.steps``).
    """

    role: Role
    name: str
    pid: Count
    cpu_s: Amount
    peak_rss_mb: Amount
    rss_mb: Amount
    context_switches: Count
    requests: Count | None = None
    charged: bool = True
    rested_rss_mb: Amount | None = None
    stepped_rss_mb: tuple[Amount, ...] = ()


@dataclasses.dataclass(frozen=True)
class Flag:
    """Why a trial is invalid or doubtful: a reason's name (``loadtests.analyse.reasons``), and it in words."""

    reason: Annotated[str, Meta(pattern=r"^[a-z_]{1,100}\Z")]
    severity: Annotated[str, Meta(pattern=r"^(invalid|doubtful)\Z")]
    sentence: str

    @property
    def invalid(self) -> bool:
        """Whether it keeps the trial out of every figure."""
        return self.severity == "invalid"


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What was seen of a trial, from which it is judged. None: not known here, which is never held against it."""

    started: bool | None = None
    """The servers answered before the time for starting was over."""
    contract_differences: int | None = None
    """Answers that differ from the contract, wrong bodies under load included."""
    processes_died: int | None = None
    """Processes of the setup, and of services that it is charged with, that ended or were restarted meanwhile."""
    generator_cpu: Number | None = None
    """CPU seconds over elapsed seconds of the generator's busiest process: 1.0 is a full core."""
    send_lag_p99_ms: Number | None = None
    """The generator's own lateness (pacing lag): the wait for a connection, which the server causes, is not in it."""
    response_p50_ms: Number | None = None
    planned: int | None = None
    """None for closed loops, which plan no number, and for searches."""
    sent: int | None = None
    """As many as planned where requests had to wait for a connection, which is not the generator's fault."""
    refused: int = 0
    """Planned requests that the server took no connection for: unsent, and not the generator's fault."""
    clock_jump_s: Number | None = None
    """Wall-clock time minus monotonic time elapsed during the trial."""
    swapped_pages: int | None = None
    """Pages that the machine swapped in and out."""
    others_cpu: Number | None = None
    """Share of the servers' cores' time that went to other programs and to steal, 0 to 1."""
    frequency_change: Number | None = None
    """Mean CPU frequency in the trial over the run's typical one, minus 1."""
    shared_core: bool | None = None
    recovered: bool | None = None
    """The server worked off what each probe of a search left behind."""
    engine_failed: bool | None = None
    service_failed: bool | None = None
    """A service beside the setup, which it is not charged with, did not start or ended meanwhile."""
    idle_cpu: Number | None = None
    """CPU seconds a second that the setup took with nothing to do, when others were to be measured beside it."""
    spins_s: tuple[Amount, ...] = ()
    """How long a fixed piece of work took on the servers' core before each round of slices: the machine's speed."""
    connection_lost: bool | None = None
    """The way to the machine of the servers was gone for a while."""
    beside: tuple[MachineBeside, ...] = ()
    """The run's other machines."""


@dataclasses.dataclass(frozen=True)
class ProbeRecord:
    """One probe of a search, and how it was judged: ``outcome`` is pass, fail or invalid. ``errors`` counts what was
    never answered as well; ``lag_ms`` is there where there were deliveries."""

    rate: Positive
    duration_s: Positive
    purpose: str
    outcome: Annotated[str, Meta(pattern=r"^(pass|fail|invalid)\Z")]
    why: str
    planned: Count
    ok: Count
    errors: Count
    response_time_ms: Figures
    lag_ms: Figures | None = None


@dataclasses.dataclass(frozen=True)
class CapacityRecord:
    """What a search found: the rate (None where no rate passed), the lowest rate that did not, and what limited it:
    ``server``, ``generator``, ``max_rate``, ``probes`` or ``time``. Rates are of what the test counts: those of a
    broadcast of deliveries."""

    rate: Positive | None
    above: Positive | None
    limited_by: Annotated[str, Meta(pattern=r"^(server|generator|max_rate|probes|time)\Z")]
    sentence: str
    objective: str
    probes: tuple[ProbeRecord, ...]

    @property
    def known(self) -> float | None:
        """The server's capacity, or what it is at least (see ``at_least``); None where the search did not settle on a
        rate."""
        return None if self.limited_by == "probes" else self.rate

    @property
    def at_least(self) -> bool:
        """Whether something else than the server ended the search: what was reached is a lower bound."""
        return self.known is not None and self.limited_by != "server"


@dataclasses.dataclass(frozen=True)
class Trial:
    """One trial. ``meanwhile`` is what was seen while its ``result`` was measured; None where nothing was looked at, as
    in runs of earlier.

    ``result`` is None where none was reached. ``flags`` are the reasons, if any, why it is invalid or doubtful, judged
    from ``evidence``. ``capacity`` is what the search of a capacity test found; ``result`` and ``processes`` are then
    those of the probe that confirmed it. ``gauges`` are series of what the setup's processes show of themselves, summed
    over all of them: ``pool in use`` and ``pool waiting`` where views fetch. ``cores`` are those of the servers and of
    the generator. ``log`` is the end of the servers' logs, where something went wrong.
    """

    number: Ordinal
    block: Ordinal
    label: Name
    setup: str
    test: Name
    attempt: Ordinal
    started: str
    status: Annotated[str, Meta(pattern=r"^(ok|invalid)\Z")]
    flags: tuple[Flag, ...] = ()
    result: Result | None = None
    meanwhile: Meanwhile | None = None
    processes: tuple[Process, ...] = ()
    cores: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    evidence: Evidence = dataclasses.field(default_factory=Evidence)
    capacity: CapacityRecord | None = None
    log: str = ""
    gauges: dict[GaugeName, tuple[Shown, ...]] = dataclasses.field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether it enters any figure."""
        return self.status == "ok"

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        retry = f"-attempt{self.attempt}" if self.attempt > 1 else ""
        return f"{self.number:04d}-{self.label}-{self.test}{retry}"

    @property
    def generator_limits(self) -> bool:
        """Whether the setup could have done more than the generator could ask of it."""
        return any(flag.reason == GENERATOR_LIMITS for flag in self.flags)

    @property
    def charged(self) -> tuple[Process, ...]:
        """The processes that the setup pays for, all of them; none where some were not seen: a sum over the others is
        no cost."""
        if any(flag.reason == COST_UNSEEN for flag in self.flags):
            return ()
        return tuple(process for process in self.processes if process.charged)
