"""Observations during a trial, in addition to its requests."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Name, Number, about


@dataclasses.dataclass(frozen=True)
class CpuSample:
    """The CPU use of about one second."""

    t: Annotated[Amount, about("When it ended, in seconds after the beginning of what is measured.")]
    cores: Annotated[dict[Name, Amount], about("Cores that the processes of each role used on average.")]


@dataclasses.dataclass(frozen=True)
class OriginStage:
    """A stage of the recipe that the setup's origin played."""

    t: Annotated[Number, about("When it began, in seconds after the beginning of what is measured.")]
    text: Annotated[str, about("What it was, in words.")]
    healthy: Annotated[bool, about("Every request is answered with 2xx in it.")]
    latency_ms: Annotated[Amount | None, about("What each request takes; null where that is drawn.")]


@dataclasses.dataclass(frozen=True)
class OriginObservation:
    """The requests to the setup's origin during the load."""

    stages: Annotated[tuple[OriginStage, ...], about("The stages that it played; empty for a load in many slices.")]
    requests: Annotated[Count, about("Requests that came.")]
    request_s: Annotated[Amount, about("Seconds that they were in flight, all together.")]

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

    way: Annotated[Name, about("How: restart, reload, max-requests or kill.")]
    t: Annotated[Amount | None, about("When that began, in seconds after the start; null where it goes on throughout.")]
    replaced: Annotated[Count, about("Processes of the setup that ended.")]
    before_mb: Annotated[Amount, about("Memory of its processes before, in MB.")]
    after_mb: Annotated[Amount, about("Memory of those after the load.")]


@dataclasses.dataclass(frozen=True)
class Meanwhile:
    """Observations during the measured load."""

    cpu: Annotated[tuple[CpuSample, ...], about("A row a second; empty for too short a load.")] = ()
    origin: Annotated[OriginObservation | None, about("The setup's origin, if it has one.")] = None
    deployment: Annotated[Deployment | None, about("What was done to the server, where the test asks for it.")] = None


@dataclasses.dataclass(frozen=True)
class HostConditions:
    """The conditions on the host of a load generator or a service during a trial."""

    machine: Annotated[str, about("Its address as it was given; empty for the harness's own.")]
    generates: Annotated[bool, about("Load came from it; else it is a service's.")]
    other_load: Annotated[Amount, about("Share of its cores (of a generator: its core) that went to others and steal.")]
    swapped_pages: Annotated[Count, about("Pages that it swapped.")]
    frequency_change: Annotated[Number | None, about("Mean CPU frequency over the run's typical one, minus 1.")] = None
    calibration_s: Annotated[tuple[Amount, ...], about("Times of the calibration loop before each round.")] = ()

    @property
    def called(self) -> str:
        """The name of the host in messages."""
        return self.machine or "the machine that the load came from"
