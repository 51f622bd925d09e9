"""The highest rate at which WebSockets can be opened within an objective."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.searching import SearchingConversation, capacity_of
from loadtests.records.toml import TomlTable

if TYPE_CHECKING:
    from typing_extensions import Self

OPENED_CAPACITY = capacity_of("capacity_connections_per_s", CONNECTIONS.plural)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConnectCapacity(SearchingConversation):
    """How many connections a second can be opened, each of which is closed when it is ready."""

    kind = "connect-capacity"
    order = 4
    does = "connect"
    metrics = (OPENED_CAPACITY,)
    judged = (OPENED_CAPACITY,)
    decisive = OPENED_CAPACITY
    cost_unit = CONNECTIONS
    load_unit = "connection"
    time_name = "time to open"
    heading = "Capacity for opening WebSockets"
    about = (
        "The highest fixed rate at which connections are opened within the objective: the time from the moment one "
        "should have been asked for until it is able to receive, refusals, and a backlog that does not grow. Where "
        "something else than the server ended a search, its capacity is at least what was reached."
    )
    caption = "Capacity: {what}"
    columns = {OPENED_CAPACITY.name: "capacity, connections/s"}  # noqa: RUF012 - it is never changed

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        return cls(**cls.talking(name, table)).knowable(table)

    @property
    def held(self) -> int:
        return 0

    @property
    def short_description(self) -> str:
        return f"WebSocket handshakes{self.with_whom}"
