"""The highest rate of messages that come back within an objective."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import MESSAGES
from loadtests.plan.kinds.echo_throughput import CONNECTIONS_HELD, echoes
from loadtests.plan.kinds.searching import SearchingConversation, capacity_of
from loadtests.plan.objective import OF_ECHOES
from loadtests.records.bounds import Ordinal
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self

ECHO_CAPACITY = capacity_of("capacity_messages_per_s", MESSAGES.plural)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EchoCapacity(SearchingConversation):
    """How many messages a second come back over ``connections``, which are opened anew for each probe."""

    kind = "echo-capacity"
    order = 6
    does = "echo"
    metrics = (ECHO_CAPACITY,)
    judged = (ECHO_CAPACITY,)
    decisive = ECHO_CAPACITY
    cost_unit = MESSAGES
    load_unit = "message"
    terms = OF_ECHOES
    heading = "Capacity for echoes"
    about = (
        "The highest fixed rate at which messages come back within the objective: response times from the intended "
        "send, messages that never come back, and a backlog that does not grow. Where something else than the server "
        "ended a search, its capacity is at least what was reached."
    )
    caption = "Capacity: {what}"
    columns = {ECHO_CAPACITY.name: "capacity, messages/s"}  # noqa: RUF012 - it is never changed

    connections: Ordinal

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        connections = table.whole("connections", CONNECTIONS_HELD, MOST_CONNECTIONS)
        return cls(connections=connections, **cls.talking(name, table)).knowable(table)

    @property
    def held(self) -> int:
        return self.connections

    def pace(self, seed: int) -> dict[str, Any]:
        return {**super().pace(seed), "connections": self.connections}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections)

    @property
    def short_description(self) -> str:
        return f"{echoes(self.size)}{self.with_whom} over {plural(self.connections, 'connection')}"
