"""What was seen again and again while a trial was measured, beside what its requests tell."""

from __future__ import annotations

import dataclasses

from loadtests.records.bounds import Amount, Count, Name, Number


@dataclasses.dataclass(frozen=True)
class CpuSample:
    """How many cores the processes of each role took, on average since the sample before or since the load began; ``t``
    is when it ended, in seconds after the beginning of what is measured."""

    t: Amount
    cores: dict[Name, Amount]


@dataclasses.dataclass(frozen=True)
class OriginStage:
    """A stage of the recipe that an origin beside the setup played: when it began, in seconds after the beginning of
    what is measured (before it: below 0), and what it was, in words. ``well``: every request is answered with 2xx in
    it. ``latency_ms`` is what each of them takes; None where that is drawn."""

    t: Number
    told: str
    well: bool
    latency_ms: Amount | None


@dataclasses.dataclass(frozen=True)
class OriginSeen:
    """An origin beside the setup while the load was made: the stages that it played, on one time axis with the load
    (none where it was asked in many slices), how many requests came, and for how many seconds they were in flight,
    all of them together."""

    stages: tuple[OriginStage, ...]
    requests: Count
    request_s: Amount

    @property
    def service_s(self) -> float | None:
        """The mean time that a request took there, in seconds; None where none came."""
        return self.request_s / self.requests if self.requests else None

    @property
    def steady(self) -> bool:
        """Whether it played a single stage, in which all was well and always took the same time: then its mean is
        that of any moment."""
        return len(self.stages) == 1 and self.stages[0].well and self.stages[0].latency_ms is not None


@dataclasses.dataclass(frozen=True)
class Meanwhile:
    """``cpu`` is empty where it was too short to see; ``origin`` is None where there was none."""

    cpu: tuple[CpuSample, ...] = ()
    origin: OriginSeen | None = None
