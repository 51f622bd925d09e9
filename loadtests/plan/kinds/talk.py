"""What works over WebSockets have in common: with which consumer they talk, and what a message is."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from loadtests.plan.kinds.pace import Pace
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.work import Work
from loadtests.workload import Load, Request
from loadtests.workload.conversation import MOST_CONNECTIONS, Conversation

PROTOCOL = "websocket"  # of the generator, and what a setup must be able to speak
# Which of Channels' consumers, and so below which prefix and in which dialect; a setup of another dialect has one
# alone.
CONSUMERS = {"async": ("/ws/", "plain"), "sync": ("/ws/sync/", "plain"), "json": ("/ws/json/", "json")}
# A payload has the number of its message; some servers take no more than 1 MiB.
LEAST_BYTES, MOST_BYTES = 32, 1_000_000
OPENING_S = 0.003  # about what a connection takes until it is ready, for the time left only
SLICE_GRACE_S = 1.0  # for messages that are on their way when a slice is over; later ones come to the next
LISTENS_S = 1.0  # for what comes twice or astray, after the end
GRACE_S = 2.0  # for what is on its way when a probe is over: one that was too much waits for all that was lost

Connections = Annotated[int, Meta(ge=1, le=MOST_CONNECTIONS, description="Connections that are held.")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Talk(Work):
    """A work over WebSockets; ``does`` is what it is to the generator (see Conversation)."""

    does: ClassVar[str]

    consumer: Annotated[
        Literal["async", "sync", "json"], Meta(description="Which of Channels' consumers, where the setup has them.")
    ] = "async"
    size: Annotated[int, Meta(ge=LEAST_BYTES, le=MOST_BYTES, description="The bytes of a payload.")] = 64
    compression: Annotated[bool, Meta(description="Whether permessage-deflate is offered.")] = False

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
    def connection_count(self) -> int:  # type: ignore[override]
        return getattr(self, "connections", 0)

    @property
    def held_connections(self) -> int:
        """How many connections stay open for the whole of it."""
        return self.connection_count

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        return self.held_connections * OPENING_S

    @property
    def counts_each(self) -> float:  # type: ignore[override]
        return self.conversation.counts_each

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        conversation = self.conversation
        if isinstance(pace, Search):
            longest_s = max(limit.ms for limit in pace.limits(self)) / 1000
            fields = {
                **fields,
                "rate": pace.start_rate / conversation.counts_each,
                "timeout_s": max(GRACE_S, 2 * longest_s),
            }
        elif conversation.sends:
            fields = {**fields, "listens_s": LISTENS_S}
        request = Request(f"GET {conversation.prefix}", path=conversation.prefix)
        return Load(**{**fields, "requests": (request,), "bodies": ()}, protocol=PROTOCOL, conversation=conversation)

    @property
    def setup_features(self) -> frozenset[str]:
        consumer = [] if self.consumer == "async" else [f"{self.consumer}-consumer"]
        return frozenset({PROTOCOL, *consumer, *(["compression"] if self.compression else [])})

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return tuple(self.record().values())

    @property
    def with_whom(self) -> str:
        """Which consumer, where it is not the usual one, and whether messages are compressed."""
        consumer = "" if self.consumer == "async" else f" with a {self.consumer} consumer"
        return f"{consumer}{', compressed' if self.compression else ''}"


def in_dialect(load: Load, dialect: str) -> Load:
    """The load on a setup of that dialect; as it is where it is no conversation, or the setup speaks as Channels
    does."""
    conversation = load.conversation
    if conversation is None or dialect in ("", "plain"):
        return load
    return dataclasses.replace(load, conversation=dataclasses.replace(conversation, dialect=dialect))
