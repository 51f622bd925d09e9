"""Define tests that send messages over WebSockets and wait for the echoes.

The tests measure response times, throughput or capacity.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import DELIVERIES, MESSAGES, CostUnit
from loadtests.plan.kinds.base import CEILING_CONNECTIONS, Farthest, Searching, Test
from loadtests.plan.kinds.pace import ClosedLoop, FixedRate, ShareOfCeiling
from loadtests.plan.kinds.talk import SLICE_GRACE_S, Connections, Talk
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric, capacity_of, rate_of
from loadtests.plan.objective import OF_ECHOES
from loadtests.records import Trial
from loadtests.workload import Load


def _wire_bytes(trial: Trial) -> float | None:
    """Return the number of bytes in both directions, over all connections, for the billed messages (see ``Result``).

    Returns:
        The number of bytes, or None if bytes weren't counted.
    """
    result = trial.result
    if result is None or result.connections is None:
        return None
    total = float(result.connections.sent_bytes + result.connections.received_bytes)
    counted_alone = result.deliveries is not None and result.deliveries.in_time is None
    if counted_alone and result.billed and result.ok:
        # Scale up the bytes, because older runs (without in_time) didn't count bytes while a server settled.
        total *= result.billed / result.ok
    return total


def wire_bytes_of(one: CostUnit) -> Metric:
    """Create the metric of the bytes on the wire per unit, such as a message."""

    def read(trial: Trial) -> float | None:
        total, count = _wire_bytes(trial), one.count(trial)
        return total / count if total is not None and count else None

    return one.metric(f"wire_bytes_per_{one.singular}", f"bytes on the wire per {one.singular}", "B", read)


def _delivered(trial: Trial) -> float | None:
    result = trial.result
    if result is None or result.deliveries is None or not result.deliveries.expected:
        return None
    return 100 * result.deliveries.delivered / result.deliveries_due


MESSAGES_PER_S = rate_of("messages_per_s", "messages", MESSAGES.plural, "echoes the most", question="throughput")
WIRE_BYTES = wire_bytes_of(MESSAGES)
DELIVERED = Metric(
    "delivered_percent",
    "delivered",
    "%",
    _delivered,
    more_is_better=True,
    short="delivered",
    complete="Every message reached every receiver.",
    cost_units=(MESSAGES.plural, DELIVERIES.plural),
)
ECHO_CAPACITY = capacity_of("capacity_messages_per_s", MESSAGES.plural)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EchoTest(Talk):
    """Send messages over ``connections`` open connections. Each message must come back."""

    does = "echo"
    terms = OF_ECHOES
    slice_grace_s = SLICE_GRACE_S
    cost_unit = MESSAGES
    load_unit = "message"

    connections: Connections = 50

    def load_of(self, fields: dict[str, Any]) -> Load:
        return super().load_of({**fields, "connections": self.connections})

    @property
    def subject(self) -> str:
        over = f" over {plural(self.connections, 'connection')}" if self.search else ""
        return f"echoes of {self.size:,} B{self._who}{over}"


class EchoThroughput(EchoTest):
    tag = "echo-throughput"
    order = 6
    paces = (ClosedLoop,)
    metrics = (MESSAGES_PER_S,)
    verdicts = (MESSAGES_PER_S, MESSAGES.cpu)
    heading = "Throughput of echoes"
    about = (
        "Messages that came back per second. In a closed loop, each connection waits for its echo before the next "
        "message, so a slow server gets fewer messages. So a longer response time lowers the throughput."
    )
    caption = "Throughput: {what}"
    table = {MESSAGES_PER_S: "messages/s", P50: "p50, ms", P99: "p99, ms", DELIVERED: "came back, %"}
    optional = ("p50, ms", "trials")


class Echo(EchoTest):
    tag = "echo"
    order = 5
    paces = (ShareOfCeiling, FixedRate)
    ceiling_kind = EchoThroughput
    metrics = (WIRE_BYTES, DELIVERED)
    verdicts = (P50, Farthest((P99, P95)), MESSAGES.cpu)
    ranking = P99
    heading = "Echoes over WebSockets"
    about = (
        "Response time is the time from the intended send of a message until it returns, over connections that "
        "were already open. Messages that don't return count as infinitely slow."
    )
    caption = "{latency}, ms: {what}"
    table = {**{metric: metric.short for metric in TIMES}, DELIVERED: "came back, %", WIRE_BYTES: "bytes each"}
    optional = ("p95", "p90", "p99.9", "trials", "bytes each")

    @property
    def description(self) -> str:
        return f"{super().description}, over {plural(self.connections, 'connection')}"

    @property
    def ceiling_test(self) -> Test | None:
        few = dataclasses.replace(self, connections=min(self.connections, CEILING_CONNECTIONS))
        return super(Echo, few).ceiling_test


class EchoCapacity(Searching, EchoTest):
    tag = "echo-capacity"
    order = 6
    metrics = (ECHO_CAPACITY,)
    heading = "Capacity for echoes"
    about = (
        "The highest fixed rate of messages within the objective for response times and for messages that don't "
        "return, without a growing backlog. If something other than the server ended a search, the capacity is a "
        "lower bound."
    )
    table = {ECHO_CAPACITY: "capacity, messages/s"}
