"""Define tests that send messages to all receivers in a room.

The tests measure the delay of each delivery, and the share of deliveries that never arrive.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.cost_unit import DELIVERIES
from loadtests.plan.kinds.base import Farthest, Searching
from loadtests.plan.kinds.echo import DELIVERED, wire_bytes_of
from loadtests.plan.kinds.pace import FixedRate, ShareOfCeiling
from loadtests.plan.kinds.talk import SLICE_GRACE_S, Talk
from loadtests.plan.metrics import Metric, capacity_of, percentile_of
from loadtests.plan.objective import OF_DELIVERIES
from loadtests.plan.times import LAG, LAST
from loadtests.records import Trial
from loadtests.records.result import PERCENTILES
from loadtests.workload import Load
from loadtests.workload.conversation import MAX_CONNECTIONS

CEILING_GRACE_S = 2.0  # the timeout of a message, which is needed because a layer with full queues drops messages


def _delay(prefix: str, key: str, label: str, called: str, question: str) -> Metric:
    """Create a percentile metric of ``lag`` (each delivery's delay) or ``last`` (the longest delay of each message)."""
    return percentile_of(
        LAG if prefix == "lag" else LAST,
        key,
        f"{prefix}_{key}_ms",
        f"{label} {key}",
        called=f"{key} {called}",
        short=f"{prefix} {key}",
        question=question,
        first="is the fastest",
        cost_units=(DELIVERIES.plural,),
        percentile=PERCENTILES[key],
    )


def _per_s(trial: Trial) -> float | None:
    result = trial.result
    return result.deliveries.timely / result.duration_s if result and result.deliveries else None


LAG_P50, LAG_P95, LAG_P99 = (
    _delay("lag", key, "lag", "lag", question)
    for key, question in (
        ("p50", "typical lag of a delivery (p50)"),
        ("p95", "lag that 1 delivery in 20 exceeds (p95)"),
        ("p99", "lag that 1 delivery in 100 exceeds (p99)"),
    )
)
LAST_P50, LAST_P99 = (
    _delay("last", key, "last receiver", "time to the last receiver", f"{question} ({key})")
    for key, question in (
        ("p50", "typical time to the last receiver of a message"),
        ("p99", "time to the last receiver that 1 message in 100 exceeds"),
    )
)
DELIVERIES_PER_S = DELIVERIES.metric("deliveries_per_s", "deliveries", "deliveries/s", _per_s, more_is_better=True)
WIRE_BYTES_EACH = wire_bytes_of(DELIVERIES)
DELIVERY_CAPACITY = capacity_of("capacity_deliveries_per_s", DELIVERIES.plural)
_TAIL = Farthest((LAG_P99, LAG_P95, LAG_P50))


@dataclasses.dataclass(frozen=True, kw_only=True)
class BroadcastTest(Talk):
    """Publish messages to rooms of receivers.

    The ``publishers`` publish into the ``rooms`` in turn. The ``receivers`` are distributed over the rooms, and each
    receiver receives exactly the messages in its room. The rates in a search are numbers of deliveries per second.
    """

    does = "broadcast"
    order = 7
    terms = OF_DELIVERIES
    slice_grace_s = SLICE_GRACE_S
    cost_unit = DELIVERIES
    load_unit = "message"
    time_name = "time until acceptance"
    supporting_metrics = (DELIVERED,)

    receivers: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="Connections that only receive.")] = 100
    rooms: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="The number of rooms.")] = 1
    publishers: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="Connections that publish.")] = 1

    def __post_init__(self) -> None:
        if self.rooms > self.receivers:
            few = plural(self.receivers, "receiver")
            raise ValueError(f"rooms: is {self.rooms:,}, but there are only {few}. Each room needs a receiver")
        super().__post_init__()

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.receivers, "rooms": self.rooms}

    @property
    def held_connections(self) -> int:
        return self.receivers + self.publishers

    def load_of(self, fields: dict[str, Any]) -> Load:
        grace = {"timeout_s": CEILING_GRACE_S} if self.pace.is_closed_loop else {}
        return super().load_of({**fields, **grace, "connections": self.publishers})

    @property
    def subject(self) -> str:
        rooms = f" in {plural(self.rooms, 'room')}" if self.rooms > 1 else ""
        return f"broadcasts of {self.size:,} B to {plural(self.receivers, 'receiver')}{rooms}{self._who}"

    def loop_condition(self, clients: int) -> str:
        return "as fast as they are accepted"


class Broadcast(BroadcastTest):
    tag = "broadcast"
    paces = (ShareOfCeiling, FixedRate)
    ceiling_metric = DELIVERIES_PER_S  # not answers/s, because a layer accepts more messages than it delivers
    metrics = (LAG_P50, LAG_P95, LAG_P99, LAST_P50, LAST_P99, DELIVERIES_PER_S, WIRE_BYTES_EACH)
    verdicts = (LAG_P50, _TAIL, LAST_P50, DELIVERIES.cpu)
    ranking = _TAIL
    loop_verdicts = (DELIVERIES_PER_S,)
    heading = "Broadcasts over WebSockets"
    about = (
        "Lag is the time from the intended publication of a message to its arrival, for each receiver. Messages "
        "that are missing at the end of the grace period count as infinitely late. If a setup loses more than 1 "
        "in 10,000, the verdict shows the loss. Last is the time until a message has reached its last receiver. "
        "Channels setups without a layer in their label use the in-memory layer, which is only for tests: its "
        "work for a message grows with the square of the number of receivers."
    )
    caption = "Lag, ms: {what}"
    table = {
        LAG_P50: "p50",
        LAG_P95: "p95",
        LAG_P99: "p99",
        DELIVERED: "delivered, %",
        LAST_P50: "last p50",
        LAST_P99: "last p99",
        DELIVERIES_PER_S: "deliveries/s",
        WIRE_BYTES_EACH: "bytes each",
    }
    optional = ("p95", "trials", "bytes each", "last p99", "deliveries/s")


class BroadcastCapacity(Searching, BroadcastTest):
    tag = "broadcast-capacity"
    defaults = {"objective": "lag p99<100ms", "start_rate": 1000.0}
    metrics = (DELIVERY_CAPACITY,)
    heading = "Capacity for broadcasts"
    about = (
        "The highest fixed rate of deliveries within the objective for the lag at every receiver and for missing "
        "deliveries, without a growing backlog. If something other than the server ended a search, the capacity "
        "is a lower bound."
    )
    table = {DELIVERY_CAPACITY: "capacity, deliveries/s", DELIVERED: "delivered then, %"}
