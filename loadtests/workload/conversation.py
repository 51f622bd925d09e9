"""Describe the messages and connections of a load over WebSockets."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError, quoted
from loadtests.formatting import plural
from loadtests.workload.script import SCRIPT, Script

DOES = ("connect", "idle", "echo", "broadcast")
SENDING = ("echo", "broadcast")  # values of ``does`` that send over open connections

MAX_CONNECTIONS = 60_000  # approximate number of ports that an address can use
MAX_BYTES = 1_000_000  # the maximum that the channel layers' specification guarantees


@dataclasses.dataclass(frozen=True)
class Conversation:
    """A load over WebSockets.

    ``does`` is one of:

    - ``connect``: each send opens a connection, and closes it when the connection is ready. The response time ends when
      the connection is ready.
    - ``idle``: ``receivers`` connections stay open, and nothing is sent. They are opened in ``steps``, so that the
      server can be observed between the steps.
    - ``echo``: each send is a message that the server must send back. The load's ``connections`` stay open and send in
      turn.
    - ``broadcast``: ``receivers`` connections stay open, distributed over ``rooms``. One of the load's ``connections``
      publishes each send in a room. The rooms take turns. The response time ends when the server has accepted the
      message. Each arrival at a receiver is a delivery.

    Connections are opened before the load and stay open over all its slices. A lost connection is opened again before
    the next slice, or for the next send that needs it.

    Args:
        does: The kind of conversation (see the list above).
        dialect: The protocol of the messages, which is the name of a file in generator/dialects/.
        prefix: The prefix of the server's paths. If the prefix is empty, the path comes from the load's request.
        receivers: The number of connections that only receive.
        rooms: The number of rooms.
        steps: The number of steps in which the connections are opened.
        size: The size of a payload in bytes, without the dialect's envelope.
        compression: Whether to offer permessage-deflate (RFC 7692).
        masking: Whether to mask messages. Without masking, the mask is zero, to measure the cost of masking in the
            generator.
        script: The messages of the dialect ``script``, which is for the user's application.

    Raises:
        UserError: If a value isn't valid.
    """

    does: str
    dialect: str = "plain"
    prefix: str = "/ws/"
    receivers: int = 0
    rooms: int = 1
    steps: int = 1
    size: int = 64
    compression: bool = False
    masking: bool = True
    script: Script | None = None

    def __post_init__(self) -> None:
        if self.does not in DOES:
            raise UserError(f"the kind of a conversation must be one of {', '.join(DOES)}, not {quoted(self.does)}")
        if (self.script is None) == (self.dialect == SCRIPT):
            raise ValueError(f"a script and the dialect {SCRIPT} need each other. The dialect is {self.dialect}")
        holds = self.does in ("idle", "broadcast")
        if holds and not 1 <= self.receivers <= MAX_CONNECTIONS:
            raise UserError(f"{self.does} needs from 1 to {MAX_CONNECTIONS:,} receivers, not {self.receivers}")
        if not holds and self.receivers:
            raise UserError(f"{self.does} has no receivers. Set the number of 'connections' instead")
        if not 1 <= self.rooms <= max(self.receivers, 1):
            among = plural(max(self.receivers, 1), "receiver")
            raise UserError(f"{among} cannot be in {self.rooms} rooms. Each room needs a receiver")
        if not 1 <= self.steps <= (self.receivers if self.does == "idle" else 1):
            raise UserError(
                f"the number of steps must be 1, or for idle connections at most their number, not {self.steps}"
            )
        if not 1 <= self.size <= MAX_BYTES:
            raise UserError(f"a payload must be from 1 to {MAX_BYTES:,} bytes, not {self.size}")

    @property
    def counts_each(self) -> float:
        """The number of deliveries for each published message, or 1 if the conversation publishes no messages."""
        return self.receivers / self.rooms if self.publishes else 1.0

    @property
    def publishes(self) -> bool:
        """Whether messages are published in rooms. One process publishes in each room."""
        return self.does == "broadcast"

    @property
    def sends(self) -> bool:
        """Whether messages are sent over open connections."""
        return self.does in SENDING
