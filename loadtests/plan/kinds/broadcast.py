"""Messages that go to every receiver in a room: how late is each delivery, and which never come?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.plan.cost_unit import DELIVERIES
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.echo_throughput import DELIVERED, wire_bytes
from loadtests.plan.kinds.over_websocket import CEILING_S, PacedConversation, conversing, paced
from loadtests.plan.kinds.room import RoomTest, room
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.percentiles import knowable
from loadtests.plan.percentiles_with_failures import knows_lag, of_deliveries, of_last
from loadtests.plan.scheduling_delay import lag_too_late, last_too_late
from loadtests.records import Trial
from loadtests.records.toml import TomlTable

if TYPE_CHECKING:
    from typing_extensions import Self

CEILING_GRACE_S = 2.0  # for what was dropped under more than a layer holds


def _lag(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        result = trial.result
        if result is None or not knows_lag(result, key) or lag_too_late(result, key):
            return None
        return of_deliveries(result, key)

    return read


def _of_lag(key: str, asked: str) -> Metric:
    """A percentile of the lag of all deliveries that were expected: those that are missing rank as infinitely late."""
    return Metric(
        f"lag_{key}_ms",
        f"lag {key}",
        "ms",
        _lag(key),
        called=f"{key} lag",
        short=f"lag {key}",
        question=Question(asked, "is the fastest"),
        cost_units=(DELIVERIES.plural,),
    )


def _last(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        result = trial.result
        if result is None or not knows_lag(result, key) or last_too_late(result, key):
            return None
        return of_last(result, key)

    return read


def _of_last(key: str, asked: str) -> Metric:
    """A percentile of the time until the last receiver of a message has it, over all messages."""
    return Metric(
        f"last_{key}_ms",
        f"last receiver {key}",
        "ms",
        _last(key),
        called=f"{key} time to the last receiver",
        short=f"last {key}",
        question=Question(asked, "is the fastest"),
        cost_units=(DELIVERIES.plural,),
    )


def _per_s(trial: Trial) -> float | None:
    result = trial.result
    return result.deliveries.timely / result.duration_s if result and result.deliveries else None


def _wire_bytes(trial: Trial) -> float | None:
    total, count = wire_bytes(trial), DELIVERIES.count(trial)
    return total / count if total is not None and count else None


LAG_P50 = _of_lag("p50", "typical lag of a delivery (p50)")
LAG_P95 = _of_lag("p95", "lag that 1 delivery in 20 exceeds (p95)")
LAG_P99 = _of_lag("p99", "lag that 1 delivery in 100 exceeds (p99)")
LAST_P50 = _of_last("p50", "typical time until the last receiver has a message (p50)")
LAST_P99 = _of_last("p99", "time until the last receiver has a message that 1 in 100 exceeds (p99)")
DELIVERIES_PER_S = Metric(
    "deliveries_per_s", "deliveries", "deliveries/s", _per_s, more_is_better=True, cost_units=(DELIVERIES.plural,)
)
WIRE_BYTES_EACH = Metric(
    "wire_bytes_per_delivery", "bytes on the wire per delivery", "B", _wire_bytes, cost_units=(DELIVERIES.plural,)
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Broadcast(RoomTest, PacedConversation):
    """``rate`` messages a second are published; or, to find the ceiling of a rate that is left to the run, as many as
    are taken."""

    kind = "broadcast"
    order = 7
    does = "broadcast"
    metrics = (LAG_P50, LAG_P95, LAG_P99, LAST_P50, LAST_P99, DELIVERIES_PER_S, WIRE_BYTES_EACH)
    supporting_metrics = (DELIVERED,)
    cost_unit = DELIVERIES
    load_unit = "message"
    time_name = "time until it was taken"
    heading = "Broadcasts over WebSockets"
    about = (
        "Lag is from the moment a message should have been published until it is at a receiver, counted at every "
        "receiver. What is missing at the end of the grace period counts as infinitely late, and a setup that lacks "
        "more than 1 in 10,000 has that as its verdict: a lag says nothing without the share that was delivered. Last "
        "is the time until the last receiver of a message has it, over all messages. Setups of Channels that name no "
        "other layer have the one in memory, which is for tests: its work for a message grows with the square of the "
        "receivers."
    )
    caption = "Lag, ms: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        LAG_P50.name: "p50",
        LAG_P95.name: "p95",
        LAG_P99.name: "p99",
        DELIVERED.name: "delivered, %",
        LAST_P50.name: "last p50",
        LAST_P99.name: "last p99",
        DELIVERIES_PER_S.name: "deliveries/s",
        WIRE_BYTES_EACH.name: "bytes each",
    }
    optional = ("p95", "trials", "bytes each", "last p99", "deliveries/s")

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        return cls(**room(table), **paced(table), **conversing(name, table))

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        tail = self.decisive
        tails = () if tail is LAG_P50 else (tail,)
        return (LAG_P50, *tails, LAST_P50, DELIVERIES.cpu)

    @property
    def decisive(self) -> Metric:  # type: ignore[override]
        """The percentile that is farthest out of those that so many messages know."""
        if self.closed_loop:
            return DELIVERIES_PER_S
        sent = int((self.rate or 0) * self.duration_s)
        known = (lag for percentile, lag in ((99.0, LAG_P99), (95.0, LAG_P95)) if knowable(percentile, sent))
        return next(known, LAG_P50)

    @property
    def closed_loop(self) -> bool:
        """Whether as many are published as are taken, at no rate."""
        return self.rate is None and self.auto is None

    @property
    def ceiling_test(self) -> Test | None:
        if self.rate is not None or self.closed_loop:
            return None
        return dataclasses.replace(self, warmup_s=min(self.warmup_s, CEILING_S), auto=None, duration_s=CEILING_S)

    def sustained_rate(self, trial: Trial) -> float | None:
        """What was delivered in time, in messages: a layer takes more than it delivers."""
        delivered = DELIVERIES_PER_S.read(trial)
        return None if delivered is None else delivered / self.conversation.counts_each

    @property
    def description(self) -> str:
        return f"{self.short_description} {self.condition}" if self.closed_loop else super().description

    @property
    def condition(self) -> str:
        return "as fast as they are taken" if self.closed_loop else super().condition

    def pace(self, seed: int) -> dict[str, Any]:
        at_rate = super().pace(seed)
        if not self.closed_loop:
            return at_rate
        return {**at_rate, "rate": None, "arrival_seed": None, "timeout_s": CEILING_GRACE_S}
