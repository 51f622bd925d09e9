"""The highest rate of deliveries within an objective."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.plan.cost_unit import DELIVERIES
from loadtests.plan.kinds.echo_throughput import DELIVERED
from loadtests.plan.kinds.room import RoomTest, room
from loadtests.plan.kinds.searching import SearchingConversation, capacity_of
from loadtests.plan.objective import OF_DELIVERIES
from loadtests.records.toml import TomlTable

if TYPE_CHECKING:
    from typing_extensions import Self

DELIVERY_CAPACITY = capacity_of("capacity_deliveries_per_s", DELIVERIES.plural)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BroadcastCapacity(RoomTest, SearchingConversation):
    """How many deliveries a second a room of so many receivers takes. The rates of the search are of deliveries, of
    which each message that is published makes as many as its room has receivers."""

    kind = "broadcast-capacity"
    order = 7
    does = "broadcast"
    metrics = (DELIVERY_CAPACITY,)
    judged = (DELIVERY_CAPACITY,)
    decisive = DELIVERY_CAPACITY
    supporting_metrics = (DELIVERED,)
    cost_unit = DELIVERIES
    load_unit = "message"
    time_name = "time until it was taken"
    terms = OF_DELIVERIES
    within = "lag p99<100ms"
    begins_at = 1000.0
    heading = "Capacity for broadcasts"
    about = (
        "The highest fixed rate of deliveries within the objective: the lag at every receiver from the intended "
        "publish, deliveries that never come, and those under way not becoming more and more. Where something "
        "else than the server ended a search, its capacity is at least what was reached."
    )
    caption = "Capacity: {what}"
    columns = {DELIVERY_CAPACITY.name: "capacity, deliveries/s", DELIVERED.name: "delivered then, %"}  # noqa: RUF012

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        return cls(**room(table), **cls.talking(name, table)).knowable(table)
