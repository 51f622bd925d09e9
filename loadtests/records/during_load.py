"""Observations during a trial, in addition to its requests."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Name, Number, about


@dataclasses.dataclass(frozen=True)
class CpuSample:
    """The CPU use of about one second."""

    t: Annotated[Amount, about("The end, in seconds after the start of the measured time.")]
    cores: Annotated[dict[Name, Amount], about("The average number of cores that the processes of each role used.")]


@dataclasses.dataclass(frozen=True)
class OriginStage:
    """A stage of the recipe that the setup's origin played."""

    t: Annotated[Number, about("The start, in seconds after the start of the measured time.")]
    text: Annotated[str, about("A description of the stage.")]
    healthy: Annotated[bool, about("Whether it answers every request with 2xx.")]
    latency_ms: Annotated[Amount | None, about("The time of each request, or null if it is random.")]


@dataclasses.dataclass(frozen=True)
class OriginObservation:
    """The requests to the setup's origin during the load."""

    stages: Annotated[tuple[OriginStage, ...], about("The played stages. It is empty for a load in many slices.")]
    requests: Annotated[Count, about("The requests to the origin.")]
    request_s: Annotated[Amount, about("The sum of the seconds in which they were in flight.")]

    @property
    def service_s(self) -> float | None:
        """The mean time of a request at the origin in seconds, or None if there were no requests."""
        return self.request_s / self.requests if self.requests else None

    @property
    def steady(self) -> bool:
        """Whether the origin played a single healthy stage of constant latency, so that its mean is always valid."""
        return len(self.stages) == 1 and self.stages[0].healthy and self.stages[0].latency_ms is not None


@dataclasses.dataclass(frozen=True)
class Deployment:
    """The replacement of the server's processes during the measurement."""

    way: Annotated[Name, about("The way: restart, reload, max-requests or kill.")]
    t: Annotated[
        Amount | None, about("The start of the replacement, in seconds; null if it continues during the whole load.")
    ]
    replaced: Annotated[Count, about("Processes of the setup that ended.")]
    before_mb: Annotated[Amount, about("Memory of its processes before, in MB.")]
    after_mb: Annotated[Amount, about("Memory of its processes after the load, in MB.")]


@dataclasses.dataclass(frozen=True)
class Meanwhile:
    """Observations during the measured load."""

    cpu: Annotated[tuple[CpuSample, ...], about("A row for each second. Empty if the load is too short.")] = ()
    origin: Annotated[OriginObservation | None, about("The setup's origin, if any.")] = None
    deployment: Annotated[Deployment | None, about("The replacement of the server's processes, if any.")] = None


@dataclasses.dataclass(frozen=True)
class HostConditions:
    """The conditions on the host of a load generator or a service during a trial."""

    machine: Annotated[str, about("Its address as the user typed it. It is empty for the harness's machine.")]
    generates: Annotated[bool, about("Whether it generated load. Otherwise, it ran a service.")]
    other_load: Annotated[Amount, about("Other load and steal on its cores (for a generator, its core).")]
    swapped_pages: Annotated[Count, about("Pages that it swapped.")]
    frequency_change: Annotated[Number | None, about("CPU frequency relative to the run's typical one.")] = None
    calibration_s: Annotated[tuple[Amount, ...], about("Times of the calibration loop before each round.")] = ()

    @property
    def called(self) -> str:
        """The name of the host in messages."""
        return self.machine or "the machine that the load came from"
