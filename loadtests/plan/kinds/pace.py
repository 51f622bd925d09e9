"""Define paces. The pace of a test is the timing of its load: the times of sends, the duration, and a description."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from loadtests.errors import UserError
from loadtests.formatting import per_second
from loadtests.plan.fields import NEEDED, Fields, Keys, TablePlace, digest
from loadtests.records.bounds import Amount, Count, Positive, Share
from loadtests.records.decode import Duration
from loadtests.workload import Feature
from loadtests.workload.conversation import MAX_CONNECTIONS

if TYPE_CHECKING:
    from typing import Self

    from loadtests.plan.kinds.work import Work

# The times of a test with --quick, in seconds.
QUICK = {"duration_s": 3.0, "probe_s": 1.0, "confirm_s": 3.0}
LONGER_QUICK = {"duration_s": 6.0}  # For tests in which an event happens several times, or in the middle of the load.
UNKNOWN_RATE = 1.0  # A placeholder for a rate that isn't known yet.

Rate = Annotated[Positive, Meta(description="The number of requests or messages per second.")]
Arrivals = Annotated[
    Literal["random", "even"], Meta(description="When sends are due: at random moments (Poisson) or at even intervals.")
]
Length = Annotated[Duration, Meta(description="The measured time.")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pace(Fields):
    """The timing of a load: the times of sends, and the duration.

    The class attribute ``compared`` contains the names of the fields that must be equal to compare two paces.
    """

    compared: ClassVar[tuple[str, ...]] = ()
    engine_features: ClassVar[frozenset[Feature]] = frozenset()
    is_closed_loop: ClassVar[bool] = False
    can_interleave: ClassVar[bool] = False
    rate_found: ClassVar[float | None] = None
    step: ClassVar[tuple[float, str, str, str] | None] = None
    fingerprint: ClassVar[str] = ""
    quick_times: ClassVar[Mapping[str, float]] = QUICK

    @property
    @abstractmethod
    def seconds(self) -> float:
        """The approximate seconds of the load."""

    @property
    @abstractmethod
    def length(self) -> str:
        """A description of the measured time."""

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return tuple(getattr(self, name, None) for name in self.compared)

    def with_warmup_s(self, warmup_s: float) -> float:
        """Return the approximate seconds of the load with its warm-up."""
        return warmup_s + self.seconds

    @abstractmethod
    def condition(self, work: Work, unit: str) -> str:
        """Describe the test conditions, such as ``at 300 requests/s``."""

    def phrase(self, work: Work, unit: str) -> str:
        """Describe the pace as the end of a sentence. ``unit`` is the name of a sent request or message."""
        return f" {self.condition(work, unit)}"

    @abstractmethod
    def load(self, seed: int) -> dict[str, Any]:
        """Return the fields of a load that define when to send."""

    def quick(self) -> Self:
        """Return the pace with short times."""
        shorter = {key: min(most, getattr(self, key)) for key, most in self.quick_times.items() if hasattr(self, key)}
        return dataclasses.replace(self, **shorter)

    def at_rate(self, rate: float) -> Pace:
        """Return the pace with another fixed rate, or the same pace if it has no rate."""
        return self

    def unrecorded(self) -> Pace:
        """Return the pace for other requests, without the recorded send times."""
        return self


@dataclasses.dataclass(frozen=True, kw_only=True)
class TimedPace(Pace):
    duration_s: Length

    @property
    def seconds(self) -> float:
        return self.duration_s

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"

    def load(self, seed: int) -> dict[str, Any]:
        return {"duration_s": self.duration_s}


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtRate(TimedPace):
    """The base class of paces with a rate. The rate may not be known yet."""

    arrivals: Arrivals = "random"

    can_interleave = True
    compared: ClassVar[tuple[str, ...]] = ("rate_found", "arrivals")

    def load(self, seed: int) -> dict[str, Any]:
        arrival_seed = seed if self.arrivals == "random" else None
        return {**super().load(seed), "rate": self.rate_found or UNKNOWN_RATE, "arrival_seed": arrival_seed}

    def at_rate(self, rate: float) -> Pace:
        return FixedRate(rate=rate, arrivals=self.arrivals, duration_s=self.duration_s)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FixedRate(AtRate):
    """A fixed rate per second. If the run found this rate, ``auto`` is its ratio to the slowest setup's ceiling."""

    rate: Rate
    auto: Share | None = dataclasses.field(default=None, metadata={"key": None})

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        return "rate" in values

    @property
    def rate_found(self) -> float:  # type: ignore[override]
        return self.rate

    @property
    def step(self) -> tuple[float, str, str, str]:  # type: ignore[override]
        rate = per_second(self.rate)
        return self.rate, "requests per second", f"{rate}/s", f"{rate} requests/s"

    def condition(self, work: Work, unit: str) -> str:
        return f"at {self.rate:g} {unit}s/s"

    def phrase(self, work: Work, unit: str) -> str:
        return f" at {self.rate:g} {unit}s per second{moments(self.arrivals)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShareOfCeiling(AtRate):
    """A share of the slowest setup's highest rate, which the run measures first (``loadtests.measure.ceilings``).

    Because the rate is below all ceilings, every setup gets the same load, and no queue grows without limit.
    """

    KEYS: ClassVar[Keys] = {"rate": (Literal["auto"], NEEDED)}

    auto: Annotated[Share, Meta(description="With rate = 'auto': the share of the slowest setup's ceiling.")] = (
        dataclasses.field(default=0.5, metadata={"key": "share"})
    )

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        return values.get("rate") == "auto" or ("auto" in values and "rate" not in values)

    def condition(self, work: Work, unit: str) -> str:
        return f"at {self.auto:.0%} of the slowest setup's ceiling"

    def phrase(self, work: Work, unit: str) -> str:
        return f" {self.condition(work, unit)}{moments(self.arrivals)}"

    def of_ceiling(self, ceiling: float) -> FixedRate:
        """Return the fixed rate, rounded to two digits so that it is easy to read."""
        rate = float(f"{ceiling * self.auto:.2g}")
        return FixedRate(rate=rate, arrivals=self.arrivals, duration_s=self.duration_s, auto=self.auto)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedPace(TimedPace):
    """A recording, replayed at ``speed`` times its own pace.

    ``recorded`` contains the time of each send (in seconds after the start) and the index of the request. ``rate`` is
    the mean rate.
    """

    KEYS: ClassVar[Keys] = {"pace": (Annotated[Literal["recorded"], Meta(description="At recorded times.")], NEEDED)}

    rate: Positive = dataclasses.field(metadata={"key": None})
    duration_s: Positive = dataclasses.field(metadata={"key": None})
    arrivals: Literal["recorded"] = dataclasses.field(default="recorded", metadata={"key": None})
    recorded: tuple[tuple[Amount, Count], ...] = dataclasses.field(metadata={"key": None})
    speed: Annotated[Positive, Meta(description="The speed, relative to the recording.")] = 1.0

    compared = ("rate", "speed", "recorded")

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        return "recorded" in (values.get("pace"), values.get("arrivals"))

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        from loadtests.plan.kinds.requests import workload_of

        workload = workload_of(values, place)
        try:
            found = workload.replay(values["speed"])
        except UserError as error:
            raise ValueError(f"pace: is 'recorded', but {error}") from None
        return cls(rate=found.rate, duration_s=found.duration_s, recorded=found.sends, speed=values["speed"])

    @property
    def rate_found(self) -> float:  # type: ignore[override]
        return self.rate

    def condition(self, work: Work, unit: str) -> str:
        return f"at {self.rate:g} {unit}s/s"

    def phrase(self, work: Work, unit: str) -> str:
        return f" at {self.speed:g} times its pace, {self.rate:.4g} {unit}s per second on average"

    def load(self, seed: int) -> dict[str, Any]:
        due = tuple(send for send in self.recorded if send[0] < self.duration_s)
        return {**super().load(seed), "rate": self.rate, "recorded": due}

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        return digest(self.recorded)

    def unrecorded(self) -> Pace:
        return FixedRate(rate=self.rate, duration_s=self.duration_s)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClosedLoop(TimedPace):
    """A closed loop: each connection sends again as soon as it gets an answer."""

    is_closed_loop = True
    can_interleave = True

    def condition(self, work: Work, unit: str) -> str:
        return work.loop_condition(self.clients)

    def phrase(self, work: Work, unit: str) -> str:
        return work.loop_phrase(self.clients)

    @property
    def clients(self) -> int | None:
        """The number of connections, or None if the work defines it."""
        return None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClosedLoopOver(ClosedLoop):
    """A closed loop over a number of connections."""

    connections: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="Connections.")]

    compared = ("connections",)

    @property
    def clients(self) -> int | None:
        return self.connections

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "connections": self.connections}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hold(TimedPace):
    """Hold connections without sending messages."""

    compared = ("duration_s",)

    def with_warmup_s(self, warmup_s: float) -> float:
        return self.seconds

    def condition(self, work: Work, unit: str) -> str:
        return work.loop_condition(None)

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "rate": 0.0, "warmup_s": 0.0}


def moments(arrivals: str) -> str:
    """Describe random send times. Evenly spaced send times need no description."""
    return ", at random moments" if arrivals == "random" else ""
