"""Define the base class of works over WebSockets, with the consumer and the messages."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from loadtests.plan.kinds.pace import Pace
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.work import Work
from loadtests.workload import Load, Request
from loadtests.workload.conversation import MAX_CONNECTIONS, Conversation

PROTOCOL = "websocket"  # The generator's protocol, and a feature that a setup must support.
# The path prefix and the dialect of each Channels consumer. A setup of another dialect has only one consumer.
CONSUMERS = {"async": ("/ws/", "plain"), "sync": ("/ws/sync/", "plain"), "json": ("/ws/json/", "json")}
# A payload contains the number of its message. Some servers accept at most 1 MiB.
MIN_BYTES, MAX_BYTES = 32, 1_000_000
OPENING_S = 0.003  # The approximate time to open a connection, used only to estimate the remaining time.
SLICE_GRACE_S = 1.0  # The time for messages in flight at the end of a slice. Later messages count in the next slice.
LISTENS_S = 1.0  # The time to wait for duplicate and stray messages after the end.
GRACE_S = 2.0  # The time for messages in flight after a probe. Above the capacity, probes wait for all lost messages.

Connections = Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="The number of open connections.")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Talk(Work):
    """A work over WebSockets. ``does`` is the work's name in the generator (see ``Conversation``)."""

    does: ClassVar[str]

    consumer: Annotated[
        Literal["async", "sync", "json"], Meta(description="The Channels consumer, if the setup has several.")
    ] = "async"
    size: Annotated[int, Meta(ge=MIN_BYTES, le=MAX_BYTES, description="The size of a payload in bytes.")] = 64
    compression: Annotated[bool, Meta(description="Whether clients offer permessage-deflate.")] = False

    @property
    def conversation(self) -> Conversation:
        """The conversation with a setup that works like Channels' consumers."""
        prefix, dialect = CONSUMERS[self.consumer]
        return Conversation(self.does, dialect, prefix, size=self.size, compression=self.compression, **self.audience)

    @property
    def audience(self) -> dict[str, Any]:
        """The fields of the conversation that describe clients that only receive."""
        return {}

    @property
    def connection_count(self) -> int:  # type: ignore[override]
        return getattr(self, "connections", 0)

    @property
    def held_connections(self) -> int:
        """The number of connections that stay open for the whole load."""
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
        return tuple(vars(self).values())

    @property
    def with_whom(self) -> str:
        """A description of the login, of the compression, and of the consumer if it isn't the default."""
        consumer = "" if self.consumer == "async" else f" with a {self.consumer} consumer"
        return f"{consumer}{', compressed' if self.compression else ''}{self._who}"


def in_dialect(load: Load, dialect: str) -> Load:
    """Return the load in a setup's dialect.

    Loads without a conversation, and loads for a setup that works like Channels' consumers, aren't changed.
    """
    conversation = load.conversation
    if conversation is None or dialect in ("", "plain"):
        return load
    return dataclasses.replace(load, conversation=dataclasses.replace(conversation, dialect=dialect))
