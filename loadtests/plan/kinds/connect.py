"""Define tests that open and close WebSockets, and measure the opening time or the highest rate of new connections."""

from __future__ import annotations

from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.base import CEILING_CONNECTIONS, CEILING_S, Farthest, Searching
from loadtests.plan.kinds.pace import ClosedLoopOver, FixedRate, Pace, ShareOfCeiling
from loadtests.plan.kinds.talk import Talk
from loadtests.plan.metrics import P50, P95, P99, capacity_of, rate_of

OPENED = rate_of("opened_per_s", "connections opened", CONNECTIONS.plural, "opens the most", "opened")
OPENED_CAPACITY = capacity_of("capacity_connections_per_s", CONNECTIONS.plural)


class ConnectTest(Talk):
    """Open connections, and close each connection as soon as it is ready."""

    does = "connect"
    order = 4
    cost_unit = CONNECTIONS
    load_unit = "connection"
    time_name = "time to open"

    @property
    def subject(self) -> str:
        return f"WebSocket handshakes{self._who}"


class Connect(ConnectTest):
    tag = "connect"
    paces = (ShareOfCeiling, FixedRate, ClosedLoopOver)
    defaults = {"connections": CEILING_CONNECTIONS}
    metrics = (OPENED,)
    verdicts = (P50, Farthest((P99, P95)), CONNECTIONS.cpu)
    ranking = P99
    loop_verdicts = (OPENED, CONNECTIONS.cpu)
    heading = "Opening WebSockets"
    about = (
        "The time from the intended start of a connection until it can receive messages: TCP, the handshake, and "
        "the first messages of the dialect. The connection is then closed."
    )
    caption = "{latency}, ms: {what}"
    table = {P50: "p50", P95: "p95", P99: "p99", OPENED: "opened/s", CONNECTIONS.cpu: "CPU ms each"}
    optional = ("p95", "trials", "opened/s")

    @property
    def ceiling_pace(self) -> Pace:
        return ClosedLoopOver(connections=CEILING_CONNECTIONS, duration_s=CEILING_S)

    def loop_condition(self, clients: int) -> str:
        return f"{super().loop_condition(clients)} at a time"


class ConnectCapacity(Searching, ConnectTest):
    tag = "connect-capacity"
    metrics = (OPENED_CAPACITY,)
    heading = "Capacity for opening WebSockets"
    about = (
        "The highest fixed rate of new connections within the objective for the time until they can receive "
        "messages and for refusals, without a growing backlog. If something other than the server ended a search, "
        "the capacity is a lower bound."
    )
    table = {OPENED_CAPACITY: "capacity, connections/s"}
