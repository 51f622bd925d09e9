"""Define the results of WebSocket messages and connections."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from loadtests.records.bounds import Amount, Count, Figures, about


@dataclasses.dataclass(frozen=True)
class Deliveries:
    """Deliveries of messages to one or more receivers: expected = delivered + missing. None means unknown."""

    expected: Annotated[Count, about("Deliveries that were expected.")]
    delivered: Annotated[Count, about("Deliveries that arrived.")]
    missing: Annotated[Count, about("The deliveries that didn't arrive.")]
    duplicate: Annotated[Count, about("Repeated arrivals of a message at the same receiver.")]
    reordered: Annotated[Count, about("Arrivals after a message that the same sender had sent later.")]
    lag_ms: Annotated[Figures, about("The time from the intended send to the arrival at each receiver.")]
    stray: Annotated[
        Count | None,
        about(
            "Arrivals on wrong connections, which make the trial invalid. Null if such arrivals can't be recognised."
        ),
    ] = 0
    in_time: Annotated[
        Count | None, about("Arrivals within duration_s, including messages that were sent earlier.")
    ] = None
    backlog: Annotated[tuple[int, ...], about("The minimum growth of the messages in flight in each slice.")] = ()
    messages: Annotated[Count | None, about("The messages that were published for receivers.")] = None
    whole: Annotated[Count | None, about("The messages that reached all their receivers.")] = None
    last_ms: Annotated[Figures | None, about("Time from the intended send to a whole message's last arrival.")] = None
    reading_lag_ms: Annotated[Figures | None, about("The time that arrivals may have waited in the generator.")] = None

    @property
    def timely(self) -> int:
        """The number of on-time deliveries, or of all deliveries if the run didn't record which were on time."""
        return self.delivered if self.in_time is None else self.in_time


@dataclasses.dataclass(frozen=True)
class Connections:
    """WebSocket connections that should stay open for the whole load: requested = opened + refused."""

    requested: Annotated[Count, about("The number of requested connections.")]
    opened: Annotated[Count, about("Connections that were opened.")]
    refused: Annotated[Count, about("Connections that weren't opened.")]
    lost: Annotated[Count, about("The number of connections that the server ended.")]
    opening_ms: Annotated[Figures, about("The time from requesting a connection until it could receive messages.")]
    opened_in_s: Annotated[Amount, about("The seconds to open the connections, without the pauses between steps.")]
    sent_bytes: Annotated[Count, about("Bytes to the server: handshakes, frames, and the dialect's messages.")]
    received_bytes: Annotated[Count, about("Bytes from the server.")]
    reason: Annotated[str, about("The reason why the first connection was refused or lost.")] = ""
    steps: Annotated[tuple[Count, ...], about("The number of open connections after each step.")] = ()
