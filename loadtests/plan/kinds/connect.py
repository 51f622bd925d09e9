"""WebSockets that are opened and closed: how long does it take until one is ready, and how many can be opened?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.over_websocket import CEILING_CONNECTIONS, CEILING_S, PacedConversation, conversing, paced
from loadtests.plan.metrics import P50, P95, P99, Metric, Question, rate, rate_is_generators
from loadtests.plan.percentiles import knowable
from loadtests.records.bounds import Ordinal
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self

OPENED = Metric(
    "opened_per_s",
    "connections opened",
    "connections/s",
    rate,
    more_is_better=True,
    called="connections opened per second",
    short="opened/s",
    question=Question("connections opened", "opens the most"),
    says_unit=True,
    cost_units=(CONNECTIONS.plural,),
    is_lower_bound=rate_is_generators,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Connect(PacedConversation):
    """``rate`` connections a second are opened, and closed when they are ready; without a rate, each of ``connections``
    is opened anew as soon as it was ready."""

    kind = "connect"
    order = 4
    does = "connect"
    metrics = (OPENED,)
    cost_unit = CONNECTIONS
    load_unit = "connection"
    time_name = "time to open"
    heading = "Opening WebSockets"
    about = (
        "The time from the moment a connection should have been asked for until it is able to receive: TCP, the "
        "handshake, and what the dialect says until it is ready. Then it is closed."
    )
    caption = "{latency}, ms: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        P50.name: "p50",
        P95.name: "p95",
        P99.name: "p99",
        OPENED.name: "opened/s",
        CONNECTIONS.cpu.name: "CPU ms each",
    }
    optional = ("p95", "trials", "opened/s")

    connections: Ordinal | None = None

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        fields = conversing(name, table)
        if "rate" in table.left:
            return cls(**fields, **paced(table))
        connections = table.whole("connections", CEILING_CONNECTIONS, MOST_CONNECTIONS)
        return cls(**fields, rate=None, connections=connections, duration_s=table.seconds("duration"))

    @property
    def closed_loop(self) -> bool:
        """Whether as many are opened as can be, at no rate."""
        return self.connections is not None

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        if self.closed_loop:
            return (OPENED, CONNECTIONS.cpu)
        knows_p99 = self.rate is None or knowable(99.0, int(self.rate * self.duration_s))
        return (P50, P99 if knows_p99 else P95, CONNECTIONS.cpu)

    @property
    def decisive(self) -> Metric:  # type: ignore[override]
        return OPENED if self.closed_loop else P99

    @property
    def held(self) -> int:
        return 0

    @property
    def ceiling_test(self) -> Test | None:
        if self.rate is not None or self.closed_loop:
            return None
        return dataclasses.replace(
            self,
            warmup_s=min(self.warmup_s, CEILING_S),
            auto=None,
            connections=CEILING_CONNECTIONS,
            duration_s=CEILING_S,
        )

    def at_rate(self, rate: float) -> Self:
        return self if self.closed_loop else super().at_rate(rate)

    def pace(self, seed: int) -> dict[str, Any]:
        if not self.closed_loop:
            return super().pace(seed)
        return {**super().pace(seed), "rate": None, "arrival_seed": None, "connections": self.connections}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections)

    @property
    def short_description(self) -> str:
        return f"WebSocket handshakes{self.with_whom}"

    @property
    def description(self) -> str:
        return f"{self.short_description}, {self.connections} at a time" if self.closed_loop else super().description

    @property
    def condition(self) -> str:
        if self.connections is None:
            return super().condition
        return f"with {plural(self.connections, 'connection')} at a time"
