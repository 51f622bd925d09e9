"""What the tests of WebSockets have in common: with what they talk, how, and at which pace."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.plan import request_options as asked
from loadtests.plan.kinds.base import Test, common
from loadtests.plan.request_options import SHARE
from loadtests.records.bounds import Positive, Share
from loadtests.records.toml import TomlTable
from loadtests.workload import DEFAULT_ENGINE, Load, Request
from loadtests.workload.conversation import Conversation

if TYPE_CHECKING:
    from typing_extensions import Self

PROTOCOL = "websocket"  # of the generator, and what a setup must be able to speak
# Which of Channels' consumers, and so below which prefix and in which dialect; a setup of another dialect has one
# alone.
CONSUMERS = {"async": ("/ws/", "plain"), "sync": ("/ws/sync/", "plain"), "json": ("/ws/json/", "json")}
LEAST_BYTES, MOST_BYTES = 32, 1_000_000  # a payload has the number of its message; some servers take no more than 1 MiB
OPENING_S = 0.003  # about what a connection takes until it is ready, for the time left only

CEILING_CONNECTIONS = 16
CEILING_S = 1.0
UNKNOWN_RATE = 1.0  # stands for a rate that is not known yet

Size = Annotated[int, Meta(ge=LEAST_BYTES, le=MOST_BYTES)]
Consumer = Annotated[str, Meta(pattern=r"^(async|sync|json)\Z")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConversingTest(Test):
    """A test that talks over WebSockets. ``consumer`` is which of Channels' three kinds of consumer it talks with,
    where the setup has them; ``size``, how many bytes a payload has; ``compression``, whether it is offered."""

    does: ClassVar[str]

    consumer: Consumer = "async"
    size: Size = 64
    compression: bool = False

    @property
    def conversation(self) -> Conversation:
        """What is said, to a setup that speaks as Channels' consumers do."""
        prefix, dialect = CONSUMERS[self.consumer]
        return Conversation(self.does, dialect, prefix, size=self.size, compression=self.compression, **self.audience)

    @property
    def audience(self) -> dict[str, Any]:
        """The fields of its conversation that say who only listens."""
        return {}

    @property
    @abstractmethod
    def held(self) -> int:
        """How many connections stay open for the whole of it."""

    @abstractmethod
    def pace(self, seed: int) -> dict[str, Any]:
        """The fields of its load that say when what is sent, over how many connections."""

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        return Load(
            origin=origin,
            requests=(Request(f"GET {self.conversation.prefix}", path=self.conversation.prefix),),
            protocol=PROTOCOL,
            conversation=self.conversation,
            core=core,
            **self.pace(seed),
        )

    @property
    def can_interleave(self) -> bool:
        return self.engine == DEFAULT_ENGINE

    @property
    def setup_features(self) -> frozenset[str]:
        consumer = [] if self.consumer == "async" else [f"{self.consumer}-consumer"]
        return frozenset({PROTOCOL, *consumer, *(["compression"] if self.compression else [])})

    @property
    def planned_s(self) -> float:
        return super().planned_s + self.held * OPENING_S

    @property
    def planned_interleaved_s(self) -> float:
        return super().planned_interleaved_s + self.held * OPENING_S

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (self.consumer, self.size, self.compression)

    @property
    def with_whom(self) -> str:
        """Which consumer, where it is not the usual one, and whether messages are compressed."""
        consumer = "" if self.consumer == "async" else f" with a {self.consumer} consumer"
        return f"{consumer}{', compressed' if self.compression else ''}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class PacedConversation(ConversingTest):
    """One that may have a rate: ``rate`` sends a second for ``duration_s``, due as ``arrivals`` says. ``auto`` is the
    share of the slowest setup's ceiling that the rate is, where that was left to the run (see latency)."""

    rate: Positive | None
    auto: Share | None = None
    duration_s: Positive
    arrivals: Annotated[str, Meta(pattern=r"^(random|even)\Z")] = "random"

    @property
    def fixed_rate(self) -> float | None:
        return self.rate

    def at_rate(self, rate: float) -> Self:
        return dataclasses.replace(self, rate=rate, auto=None)

    def at_ceiling(self, ceiling: float) -> Self:
        # Two digits, for whoever reads it.
        return dataclasses.replace(self, rate=float(f"{ceiling * (self.auto or SHARE):.2g}"))

    @property
    def seconds(self) -> float:
        return self.duration_s

    def pace(self, seed: int) -> dict[str, Any]:
        return {
            "rate": self.rate or UNKNOWN_RATE,
            "arrival_seed": seed if self.arrivals == "random" else None,
            "duration_s": self.duration_s,
            "warmup_s": self.warmup_s,
        }

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.rate, self.arrivals)

    @property
    def description(self) -> str:
        how = ", at random moments" if self.arrivals == "random" else ""
        if self.rate is None:
            return f"{self.short_description} at {self.auto:.0%} of what the slowest setup holds{how}"
        return f"{self.short_description} at {self.rate:g} {self.load_unit}s per second{how}"

    @property
    def condition(self) -> str:
        if self.rate is None:
            return f"at {self.auto:.0%} of what the slowest setup holds"
        return f"at {self.rate:g} {self.load_unit}s/s"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"


def conversing(name: str, table: TomlTable) -> dict[str, Any]:
    """The fields that all tests of WebSockets have, from a study's table. Raises UserError."""
    size = table.whole("size", 64, MOST_BYTES)
    if size < LEAST_BYTES:
        raise table.error("size", f"is {size}; a message takes {LEAST_BYTES} bytes or more, for its number is in it")
    return {
        **common(name, table),
        "consumer": table.choice("consumer", tuple(CONSUMERS), "async"),
        "size": size,
        "compression": table.take("compression", bool, False),
    }


def paced(table: TomlTable) -> dict[str, Any]:
    """When what is sent, at a rate. Raises UserError."""
    return {**asked.rate(table), "duration_s": table.seconds("duration"), "arrivals": asked.arrivals(table)}


def in_dialect(load: Load, dialect: str) -> Load:
    """The load on a setup of that dialect; as it is where it is no conversation, or the setup speaks as Channels
    does."""
    conversation = load.conversation
    if conversation is None or dialect in ("", "plain"):
        return load
    return dataclasses.replace(load, conversation=dataclasses.replace(conversation, dialect=dialect))
