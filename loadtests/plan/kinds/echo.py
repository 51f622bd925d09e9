"""Messages at a fixed rate that must come back: how long does one take over a WebSocket?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import MESSAGES
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.echo_throughput import CONNECTIONS_HELD, DELIVERED, WIRE_BYTES, EchoThroughput, echoes
from loadtests.plan.kinds.over_websocket import CEILING_CONNECTIONS, CEILING_S, PacedConversation, conversing, paced
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric
from loadtests.plan.percentiles import knowable
from loadtests.records.bounds import Ordinal
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclasses.dataclass(frozen=True, kw_only=True)
class Echo(PacedConversation):
    """``rate`` messages a second over ``connections`` that stay open, each of which must come back."""

    kind = "echo"
    order = 5
    does = "echo"
    metrics = (WIRE_BYTES, DELIVERED)
    decisive = P99
    cost_unit = MESSAGES
    load_unit = "message"
    heading = "Echoes over WebSockets"
    about = (
        "Response time is from the moment a message should have been sent until it is back, over connections that were "
        "open before. One that does not come back counts as infinitely slow."
    )
    caption = "{latency}, ms: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        **{metric.name: metric.short for metric in TIMES},
        DELIVERED.name: "came back, %",
        WIRE_BYTES.name: "bytes each",
    }
    optional = ("p95", "p90", "p99.9", "trials", "bytes each")

    connections: Ordinal

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        connections = table.whole("connections", CONNECTIONS_HELD, MOST_CONNECTIONS)
        return cls(connections=connections, **conversing(name, table), **paced(table))

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        knows_p99 = self.rate is None or knowable(99.0, int(self.rate * self.duration_s))
        return (P50, P99 if knows_p99 else P95, MESSAGES.cpu)

    @property
    def held(self) -> int:
        return self.connections

    @property
    def ceiling_test(self) -> Test | None:
        if self.rate is not None:
            return None
        return EchoThroughput(
            name=self.name,
            warmup_s=min(self.warmup_s, CEILING_S),
            services=self.services,
            consumer=self.consumer,
            size=self.size,
            compression=self.compression,
            connections=min(self.connections, CEILING_CONNECTIONS),
            duration_s=CEILING_S,
        )

    def pace(self, seed: int) -> dict[str, Any]:
        return {**super().pace(seed), "connections": self.connections}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections)

    @property
    def short_description(self) -> str:
        return f"{echoes(self.size)}{self.with_whom}"

    @property
    def description(self) -> str:
        return f"{super().description}, over {plural(self.connections, 'connection')}"
