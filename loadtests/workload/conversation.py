"""What is done over WebSockets."""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError, quoted
from loadtests.formatting import plural
from loadtests.workload.script import SCRIPT, Script

DOES = ("connect", "idle", "echo", "broadcast")
SENDING = ("echo", "broadcast")  # over connections that are held

MOST_CONNECTIONS = 60_000  # about the ports of an address
MOST_BYTES = 1_000_000  # the channel layers' specification guarantees no more


@dataclasses.dataclass(frozen=True)
class Conversation:
    """What is done over WebSockets. One of:

    - ``connect``: each send opens a connection, and closes it once it is ready. The response time is from the intended
      moment until then.
    - ``idle``: ``receivers`` connections are held, and nothing is sent. They are opened in ``steps``, so that the
      server can be looked at in between.
    - ``echo``: each send is a message that must come back, on one of the load's ``connections``, which are held and
      take turns.
    - ``broadcast``: ``receivers`` connections are held, dealt out over ``rooms``. Each send is published in one of the
      rooms, in turn, by one of the load's ``connections``; its response time is until the server has taken it. Each
      arrival at a receiver is a delivery.

    Connections that are held are opened before the load and stay open over all of its slices. One that is lost is
    opened again before the next slice, or for the send that needs it.

    ``dialect`` is how the server is spoken to, by the name that the generator has for it (a file of
    generator/dialects/), and ``prefix`` what its paths begin with, where it has any; with an empty one the path is
    that of the load's request, as it is. ``size`` is the bytes of a payload, without what the dialect puts around it.
    ``compression`` says whether permessage-deflate is offered (RFC 7692). Without ``masking`` messages have a mask of
    zeros, which masks nothing: to see what masking costs the generator. ``script`` is what the dialect ``script`` says,
    to an application of the user's.

    Raises UserError where a value makes no sense.
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
            raise UserError(f"a conversation does {quoted(self.does)}; it can do one of: {', '.join(DOES)}")
        if (self.script is None) == (self.dialect == SCRIPT):
            raise ValueError(f"a script is for the dialect {SCRIPT}; this is {self.dialect}")
        holds = self.does in ("idle", "broadcast")
        if holds and not 1 <= self.receivers <= MOST_CONNECTIONS:
            raise UserError(f"{self.does} holds from 1 to {MOST_CONNECTIONS:,} receivers, not {self.receivers}")
        if not holds and self.receivers:
            raise UserError(f"{self.does} has no receivers; 'connections' is their number")
        if not 1 <= self.rooms <= max(self.receivers, 1):
            among = plural(max(self.receivers, 1), "receiver")
            raise UserError(f"{among} cannot be in {self.rooms} rooms; each room needs one")
        if not 1 <= self.steps <= (self.receivers if self.does == "idle" else 1):
            raise UserError(
                f"what is opened in steps are idle connections, one at least in each, not {self.steps} steps"
            )
        if not 1 <= self.size <= MOST_BYTES:
            raise UserError(f"a payload has from 1 to {MOST_BYTES:,} bytes, not {self.size}")

    @property
    def counts_each(self) -> float:
        """How many deliveries a message that is published makes; 1 where none is."""
        return self.receivers / self.rooms if self.publishes else 1.0

    @property
    def publishes(self) -> bool:
        """Whether messages are sent into rooms, in each of which one process publishes."""
        return self.does == "broadcast"

    @property
    def sends(self) -> bool:
        """Whether messages are sent over connections that are held."""
        return self.does in SENDING
