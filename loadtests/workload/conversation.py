"""Describe the messages and connections of a load over WebSockets."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError
from loadtests.workload.script import Script

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
        script: The messages of the dialect ``script``, which is for the user's application.

    Raises:
        UserError: If the size isn't valid.
    """

    does: str
    dialect: str = "plain"
    prefix: str = "/ws/"
    receivers: int = 0
    rooms: int = 1
    steps: int = 1
    size: int = 64
    script: Script | None = None

    def __post_init__(self) -> None:
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
        return self.does in ("echo", "broadcast")
