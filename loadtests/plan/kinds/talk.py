"""Define the base class of tests over WebSockets, with the messages."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.plan.kinds.base import Test
from loadtests.workload import Load, Request
from loadtests.workload.conversation import MAX_CONNECTIONS, Conversation

PROTOCOL = "websocket"  # The generator's protocol, and a feature that a setup must support.
# A payload contains the number of its message. Some servers accept at most 1 MiB.
MIN_BYTES, MAX_BYTES = 32, 1_000_000
OPENING_S = 0.003  # The approximate time to open a connection, used only to estimate the remaining time.
SLICE_GRACE_S = 1.0  # The time for messages in flight at the end of a slice. Later messages count in the next slice.
LISTENS_S = 1.0  # The time to wait for duplicate and stray messages after the end.
GRACE_S = 2.0  # The time for messages in flight after a probe. Above the capacity, probes wait for all lost messages.

Connections = Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="The number of open connections.")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Talk(Test):
    """A test over WebSockets. ``does`` is the name of the conversation in the generator (see ``Conversation``)."""

    does: ClassVar[str]

    size: Annotated[int, Meta(ge=MIN_BYTES, le=MAX_BYTES, description="The size of a payload in bytes.")] = 64

    @property
    def conversation(self) -> Conversation:
        """The conversation with a setup that works like Channels' consumers."""
        return Conversation(self.does, size=self.size, **self.audience)

    @property
    def audience(self) -> dict[str, Any]:
        """The fields of the conversation that describe clients that only receive."""
        return {}

    @property
    def held_connections(self) -> int:
        """The number of connections that stay open for the whole load."""
        return getattr(self, "connections", 0)

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        return self.held_connections * OPENING_S

    @property
    def counts_each(self) -> float:  # type: ignore[override]
        return self.conversation.counts_each

    def load_of(self, fields: dict[str, Any]) -> Load:
        conversation = self.conversation
        if self.search is not None:
            longest_s = max(limit.ms for limit in self.search[0].limits) / 1000
            fields = {
                **fields,
                "rate": fields["rate"] / conversation.counts_each,
                "timeout_s": max(GRACE_S, 2 * longest_s),
            }
        elif conversation.sends:
            fields = {**fields, "listens_s": LISTENS_S}
        request = Request(f"GET {conversation.prefix}", path=conversation.prefix)
        return Load(**{**fields, "requests": (request,), "bodies": ()}, protocol=PROTOCOL, conversation=conversation)

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({PROTOCOL})


def in_dialect(load: Load, dialect: str) -> Load:
    """Return the load in a setup's dialect.

    Loads without a conversation, and loads for a setup that works like Channels' consumers, aren't changed.
    """
    conversation = load.conversation
    if conversation is None or dialect in ("", "plain"):
        return load
    return dataclasses.replace(load, conversation=dataclasses.replace(conversation, dialect=dialect))
