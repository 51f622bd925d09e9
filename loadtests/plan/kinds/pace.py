"""Define paces. The pace of a test is the timing of its load: the times of sends, the duration, and a description."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.formatting import per_second
from loadtests.plan.fields import NEEDED, Fields, Keys, TablePlace
from loadtests.records.bounds import Amount, Count, Positive, Share
from loadtests.records.decode import Duration
from loadtests.workload import Feature
from loadtests.workload.conversation import MAX_CONNECTIONS

if TYPE_CHECKING:
    from typing import Self

    from loadtests.plan.kinds.base import Test

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
    in_slices: ClassVar[bool] = False
    rate_found: ClassVar[float | None] = None
    step: ClassVar[tuple[float, str, str, str] | None] = None
    quick_times: ClassVar[Mapping[str, float]] = QUICK

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Return whether the keys of a table, or the non-empty fields of a record, select this pace."""
        return False

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        return msgspec.convert(values, cls)

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
    def condition(self, test: Test) -> str:
        """Describe the test conditions, such as ``at 300 requests/s``."""

    def phrase(self, test: Test) -> str:
        """Describe the pace as the end of a sentence."""
        return f" {self.condition(test)}"

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


def chosen(paces: Iterable[type[Pace]], values: Mapping[str, Any]) -> type[Pace]:
    """Return the pace that the keys or fields select, or else the last pace."""
    *others, last = paces
    given = {key: value for key, value in values.items() if value is not None and value not in ([], ())}
    return next((pace for pace in others if pace.fits(given)), last)


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

    in_slices = True
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

    def condition(self, test: Test) -> str:
        return f"at {self.rate:g} {test.load_unit}s/s"

    def phrase(self, test: Test) -> str:
        return f" at {self.rate:g} {test.load_unit}s per second{moments(self.arrivals)}"


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
        return isinstance(values.get("rate"), str) or ("auto" in values and "rate" not in values)

    def condition(self, test: Test) -> str:
        return f"at {self.auto:.0%} of the slowest setup's ceiling"

    def phrase(self, test: Test) -> str:
        return f" {self.condition(test)}{moments(self.arrivals)}"

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
        return "pace" in values or values.get("arrivals") == "recorded"

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        from loadtests.plan.kinds.requests import workload_of

        try:
            found = workload_of(values, place).replay(values["speed"])
        except UserError as error:
            raise ValueError(f"pace: is 'recorded', but {error}") from None
        return {
            "rate": found.rate,
            "duration_s": found.duration_s,
            "recorded": found.sends,
            "speed": values["speed"],
        }

    @property
    def rate_found(self) -> float:  # type: ignore[override]
        return self.rate

    def condition(self, test: Test) -> str:
        return f"at {self.rate:g} {test.load_unit}s/s"

    def phrase(self, test: Test) -> str:
        return f" at {self.speed:g} times its pace, {self.rate:.4g} {test.load_unit}s per second on average"

    def load(self, seed: int) -> dict[str, Any]:
        due = tuple(send for send in self.recorded if send[0] < self.duration_s)
        return {**super().load(seed), "rate": self.rate, "recorded": due}

    def unrecorded(self) -> Pace:
        return FixedRate(rate=self.rate, duration_s=self.duration_s)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClosedLoop(TimedPace):
    """A closed loop over the connections of a test: each connection sends again as soon as it gets an answer."""

    is_closed_loop = True
    in_slices = True

    def condition(self, test: Test) -> str:
        return test.loop_condition(getattr(test, "connections", 0))

    def phrase(self, test: Test) -> str:
        return f" in a closed loop {self.condition(test)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClosedLoopOver(ClosedLoop):
    """A closed loop over a number of connections."""

    connections: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="Connections.")]

    compared = ("connections",)

    def condition(self, test: Test) -> str:
        return test.loop_condition(self.connections)

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "connections": self.connections}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Hold(TimedPace):
    """Hold connections without sending messages."""

    compared = ("duration_s",)

    def with_warmup_s(self, warmup_s: float) -> float:
        return self.seconds

    def condition(self, test: Test) -> str:
        return test.loop_condition(getattr(test, "connections", 0))

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "rate": 0.0, "warmup_s": 0.0}


def moments(arrivals: str) -> str:
    """Describe random send times. Evenly spaced send times need no description."""
    return ", at random moments" if arrivals == "random" else ""
