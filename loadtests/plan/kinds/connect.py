"""Define tests that open and close WebSockets, and measure the opening time or the highest rate of new connections."""

from __future__ import annotations

import dataclasses

from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.kind import Farthest, Kind, searching
from loadtests.plan.kinds.pace import ClosedLoopOver, FixedRate, Pace, ShareOfCeiling
from loadtests.plan.kinds.talk import Talk
from loadtests.plan.kinds.work import CEILING_CONNECTIONS, Work
from loadtests.plan.metrics import P50, P95, P99, capacity_of, rate_of


@dataclasses.dataclass(frozen=True, kw_only=True)
class Connect(Talk):
    """Open connections, and close each connection as soon as it is ready."""

    does = "connect"

    def ceiling(self, duration_s: float) -> tuple[Work, Pace]:
        return self, ClosedLoopOver(connections=CEILING_CONNECTIONS, duration_s=duration_s)

    def subject(self, pace: Pace) -> str:
        return f"WebSocket handshakes{self.with_whom}"

    def loop_phrase(self, clients: int | None) -> str:
        return f", {clients} at a time"

    def loop_condition(self, clients: int | None) -> str:
        return f"{super().loop_condition(clients)} at a time"


OPENED = rate_of("opened_per_s", "connections opened", CONNECTIONS.plural, "opens the most", "opened")
OPENED_CAPACITY = capacity_of("capacity_connections_per_s", CONNECTIONS.plural)

KINDS = (
    Kind(
        name="connect",
        order=4,
        work=Connect,
        paces=(ShareOfCeiling, FixedRate, ClosedLoopOver),
        defaults={"connections": CEILING_CONNECTIONS},
        cost_unit=CONNECTIONS,
        load_unit="connection",
        time_name="time to open",
        metrics=(OPENED,),
        judged=(P50, Farthest((P99, P95)), CONNECTIONS.cpu),
        decisive=P99,
        loop_judged=(OPENED, CONNECTIONS.cpu),
        heading="Opening WebSockets",
        about=(
            "The time from the intended start of a connection until it can receive messages: TCP, the handshake, and "
            "the first messages of the dialect. The connection is then closed."
        ),
        caption="{latency}, ms: {what}",
        columns={P50: "p50", P95: "p95", P99: "p99", OPENED: "opened/s", CONNECTIONS.cpu: "CPU ms each"},
        optional=("p95", "trials", "opened/s"),
    ),
    searching(
        OPENED_CAPACITY,
        "p99<50ms",
        name="connect-capacity",
        order=4,
        work=Connect,
        cost_unit=CONNECTIONS,
        load_unit="connection",
        time_name="time to open",
        heading="Capacity for opening WebSockets",
        about=(
            "The highest fixed rate of new connections within the objective for the time until they can receive "
            "messages and for refusals, without a growing backlog. If something other than the server ended a search, "
            "the capacity is a lower bound."
        ),
    ),
)
