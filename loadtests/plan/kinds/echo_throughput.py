"""A closed loop over WebSockets: how many messages come back when each connection sends again as soon as one is
back?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import DELIVERIES, MESSAGES
from loadtests.plan.kinds.over_websocket import ConversingTest, conversing
from loadtests.plan.metrics import Metric, Question, rate, rate_is_generators
from loadtests.records import Trial
from loadtests.records.bounds import Ordinal, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self

CONNECTIONS_HELD = 50


def echoes(size: int) -> str:
    """What is sent, in words."""
    return f"echoes of {size:,} B"


def wire_bytes(trial: Trial) -> float | None:
    """What went over the wire in both directions for all that is billed (see Result), all connections together; None
    where that was not counted."""
    result = trial.result
    if result is None or result.connections is None:
        return None
    total = float(result.connections.sent_bytes + result.connections.received_bytes)
    counted_alone = result.deliveries is not None and result.deliveries.in_time is None
    if counted_alone and result.billed and result.ok:
        total *= result.billed / result.ok  # runs before there was in_time counted no bytes while a server settled
    return total


def _each(trial: Trial) -> float | None:
    total, count = wire_bytes(trial), MESSAGES.count(trial)
    return total / count if total is not None and count else None


def _delivered(trial: Trial) -> float | None:
    result = trial.result
    if result is None or result.deliveries is None or not result.deliveries.expected:
        return None
    return 100 * result.deliveries.delivered / result.deliveries_due


MESSAGES_PER_S = Metric(
    "messages_per_s",
    "messages",
    "messages/s",
    rate,
    more_is_better=True,
    called="messages per second",
    short="messages/s",
    question=Question("throughput", "echoes the most"),
    says_unit=True,
    cost_units=(MESSAGES.plural,),
    is_lower_bound=rate_is_generators,
)
WIRE_BYTES = Metric(
    "wire_bytes_per_message", "bytes on the wire per message", "B", _each, cost_units=(MESSAGES.plural,)
)
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class EchoThroughput(ConversingTest):
    """As many messages as come back over ``connections``, for ``duration_s``."""

    kind = "echo-throughput"
    order = 6
    does = "echo"
    metrics = (MESSAGES_PER_S,)
    judged = (MESSAGES_PER_S, MESSAGES.cpu)
    decisive = MESSAGES_PER_S
    cost_unit = MESSAGES
    load_unit = "message"
    heading = "Throughput of echoes"
    about = (
        "Messages that came back per second. In a closed loop each connection waits for its message before it sends "
        "again, so a slow server is sent less: read the response times of such a test as part of its throughput."
    )
    caption = "Throughput: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        "messages_per_s": "messages/s",
        "p50_ms": "p50, ms",
        "p99_ms": "p99, ms",
        "delivered_percent": "came back, %",
    }
    optional = ("p50, ms", "trials")

    connections: Ordinal
    duration_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        connections = table.whole("connections", CONNECTIONS_HELD, MOST_CONNECTIONS)
        return cls(connections=connections, duration_s=table.seconds("duration"), **conversing(name, table))

    @property
    def closed_loop(self) -> bool:
        return True

    @property
    def seconds(self) -> float:
        return self.duration_s

    @property
    def held(self) -> int:
        return self.connections

    def pace(self, seed: int) -> dict[str, Any]:
        return {"connections": self.connections, "duration_s": self.duration_s, "warmup_s": self.warmup_s}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections)

    @property
    def short_description(self) -> str:
        return f"{echoes(self.size)}{self.with_whom}"

    @property
    def description(self) -> str:
        return f"{self.short_description} as fast as {plural(self.connections, 'connection')} can"

    @property
    def condition(self) -> str:
        return f"with {plural(self.connections, 'connection')}"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"
