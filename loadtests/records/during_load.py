"""Define the records of observations during a trial, in addition to its requests."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Name, Number, about


@dataclasses.dataclass(frozen=True)
class CpuSample:
    """The CPU use during about one second."""

    t: Annotated[Amount, about("The end of this second, in seconds after the start of the measured time.")]
    cores: Annotated[dict[Name, Amount], about("The average number of cores that the processes of each role used.")]


@dataclasses.dataclass(frozen=True)
class OriginStage:
    """A stage that the setup's origin played."""

    t: Annotated[Number, about("The start of the stage, in seconds after the start of the measured time.")]
    text: Annotated[str, about("A description of the stage.")]
    healthy: Annotated[bool, about("Whether the origin answers every request with a 2xx status.")]
    latency_ms: Annotated[Amount | None, about("The duration of each request, or null if it is random.")]


@dataclasses.dataclass(frozen=True)
class OriginObservation:
    """The requests to the setup's origin during the load."""

    stages: Annotated[tuple[OriginStage, ...], about("The played stages, or an empty list for a load in many slices.")]
    requests: Annotated[Count, about("The number of requests to the origin.")]
    request_s: Annotated[Amount, about("The sum of the durations of all requests, in seconds.")]

    @property
    def service_s(self) -> float | None:
        """The mean duration of a request to the origin in seconds, or None if there were no requests."""
        return self.request_s / self.requests if self.requests else None

    @property
    def steady(self) -> bool:
        """Whether the origin played a single healthy stage with constant latency, so that its mean is always valid."""
        return len(self.stages) == 1 and self.stages[0].healthy and self.stages[0].latency_ms is not None


@dataclasses.dataclass(frozen=True)
class Deployment:
    """The replacement of the server's processes during the measurement."""

    way: Annotated[Name, about("The method of replacement: restart, reload, max-requests or kill.")]
    t: Annotated[
        Amount | None,
        about("The start of the replacement, in seconds; null if workers are replaced during the whole load."),
    ]
    replaced: Annotated[Count, about("The number of the setup's processes that ended.")]
    before_mb: Annotated[Amount, about("The memory of the setup's processes before the load, in MB.")]
    after_mb: Annotated[Amount, about("The memory of the setup's processes after the load, in MB.")]


@dataclasses.dataclass(frozen=True)
class Meanwhile:
    """Observations during the measured load."""

    cpu: Annotated[tuple[CpuSample, ...], about("A row for each second, or no rows if the load is too short.")] = ()
    origin: Annotated[OriginObservation | None, about("The setup's origin, if any.")] = None
    deployment: Annotated[Deployment | None, about("The replacement of the server's processes, if any.")] = None


@dataclasses.dataclass(frozen=True)
class HostConditions:
    """The conditions on the host of a load generator or a service during a trial."""

    machine: Annotated[str, about("The host's address as the user typed it, or empty for the harness's machine.")]
    generates: Annotated[bool, about("Whether the host generated load. Otherwise, it ran a service.")]
    other_load: Annotated[
        Amount, about("The share of the host's (or generator's) cores that other programs and steal time used.")
    ]
    swapped_pages: Annotated[Count, about("The pages that the host swapped in and out.")]
    frequency_change: Annotated[Number | None, about("CPU frequency relative to the run's typical frequency.")] = None
    calibration_s: Annotated[tuple[Amount, ...], about("The calibration loop's times before each round.")] = ()

    @property
    def called(self) -> str:
        """The name of the host in messages."""
        return self.machine or "the machine that generated the load"
