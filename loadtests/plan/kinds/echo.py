"""Define tests that send messages over WebSockets and wait for the echoes.

The tests measure response times, throughput or capacity.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import DELIVERIES, MESSAGES, CostUnit
from loadtests.plan.kinds.kind import Farthest, Kind, searching
from loadtests.plan.kinds.pace import ClosedLoop, FixedRate, Pace, ShareOfCeiling
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.talk import SLICE_GRACE_S, Connections, Talk
from loadtests.plan.kinds.work import CEILING_CONNECTIONS, Work
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric, capacity_of, rate_of
from loadtests.plan.objective import OF_ECHOES
from loadtests.records import Trial
from loadtests.workload import Load


@dataclasses.dataclass(frozen=True, kw_only=True)
class Echo(Talk):
    """Send messages over ``connections`` open connections. Each message must come back."""

    does = "echo"
    terms = OF_ECHOES
    slice_grace_s = SLICE_GRACE_S

    connections: Connections = 50

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        return super().load(pace, {**fields, "connections": self.connections})

    def ceiling(self, duration_s: float) -> tuple[Work, Pace]:
        few = dataclasses.replace(self, connections=min(self.connections, CEILING_CONNECTIONS))
        return few, ClosedLoop(duration_s=duration_s)

    def subject(self, pace: Pace) -> str:
        over = f" over {plural(self.connections, 'connection')}" if isinstance(pace, Search) else ""
        return f"echoes of {self.size:,} B{self.with_whom}{over}"

    def describe(self, subject: str, pace: Pace, unit: str) -> str:
        at_rate = isinstance(pace, (FixedRate, ShareOfCeiling))
        over = f", over {plural(self.connections, 'connection')}" if at_rate else ""
        return f"{super().describe(subject, pace, unit)}{over}"


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

THROUGHPUT = Kind(
    name="echo-throughput",
    order=6,
    work=Echo,
    paces=(ClosedLoop,),
    cost_unit=MESSAGES,
    load_unit="message",
    metrics=(MESSAGES_PER_S,),
    judged=(MESSAGES_PER_S, MESSAGES.cpu),
    heading="Throughput of echoes",
    about=(
        "Messages that came back per second. In a closed loop, each connection waits for its echo before the next "
        "message, so a slow server gets fewer messages. So a longer response time lowers the throughput."
    ),
    caption="Throughput: {what}",
    columns={MESSAGES_PER_S: "messages/s", P50: "p50, ms", P99: "p99, ms", DELIVERED: "came back, %"},
    optional=("p50, ms", "trials"),
)
KINDS = (
    Kind(
        name="echo",
        order=5,
        work=Echo,
        paces=(ShareOfCeiling, FixedRate),
        ceiling=THROUGHPUT,
        cost_unit=MESSAGES,
        load_unit="message",
        metrics=(WIRE_BYTES, DELIVERED),
        judged=(P50, Farthest((P99, P95)), MESSAGES.cpu),
        decisive=P99,
        heading="Echoes over WebSockets",
        about=(
            "Response time is the time from the intended send of a message until it returns, over connections that "
            "were already open. Messages that don't return count as infinitely slow."
        ),
        caption="{latency}, ms: {what}",
        columns={**{metric: metric.short for metric in TIMES}, DELIVERED: "came back, %", WIRE_BYTES: "bytes each"},
        optional=("p95", "p90", "p99.9", "trials", "bytes each"),
    ),
    THROUGHPUT,
    searching(
        ECHO_CAPACITY,
        "p99<50ms",
        name="echo-capacity",
        order=6,
        work=Echo,
        cost_unit=MESSAGES,
        load_unit="message",
        heading="Capacity for echoes",
        about=(
            "The highest fixed rate of messages within the objective for response times and for messages that don't "
            "return, without a growing backlog. If something other than the server ended a search, the capacity is a "
            "lower bound."
        ),
    ),
)
