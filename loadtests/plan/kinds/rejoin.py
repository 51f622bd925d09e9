"""A server that is restarted under WebSockets that come back: how long is everybody away, and what is missed?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.kind import Kind
from loadtests.plan.kinds.pace import Hold, Pace
from loadtests.plan.kinds.talk import Connections, Talk
from loadtests.plan.metrics import Metric
from loadtests.plan.times import AWAY
from loadtests.records import Rejoined, Trial
from loadtests.records.bounds import Positive
from loadtests.records.decode import Duration

if TYPE_CHECKING:
    from typing_extensions import Self

RESTART_S = 2.0  # about what a server takes to stop and to start, and what goes before and after it
QUICK_CONNECTIONS = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rejoin(Talk):
    """The server is restarted under ``connections`` in one room, into which ``rate`` messages a second are published.
    Each that is lost comes back after a random part of ``jitter_s``, and again so after each attempt that failed.

    By default they are few enough that each setup holds them with ease, so that coming back is measured and not
    broadcasts, and as many as p95 takes. What the processes use is not counted: those that end take it with them, and
    most of what is left is broadcasts."""

    does = "rejoin"
    deployment = "restart"

    connections: Connections = 200
    rate: Annotated[Positive, Meta(description="Messages that are published per second.")] = 2.0
    jitter_s: Annotated[Duration, Meta(description="Within what each connection tries again.")] = 1.0

    @property
    def held_connections(self) -> int:
        return self.connections + 1

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.connections, "jitter_s": self.jitter_s, "publishes_per_s": self.rate}

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        return 2 * super().opening_s

    def quick(self) -> Self:
        # How long it takes is the server's, so fewer come back.
        return dataclasses.replace(self, connections=min(self.connections, QUICK_CONNECTIONS))

    def subject(self, pace: Pace) -> str:
        return f"WebSockets that come back after a restart{self.with_whom}"

    def describe(self, subject: str, pace: Pace, unit: str) -> str:
        within = f"each within {self.jitter_s:g} s of an attempt"
        return f"{self.connections:,} {subject}, {within}, {self.rate:g} messages of {self.size:,} B a second"


@dataclasses.dataclass(frozen=True, kw_only=True)
class UntilBack(Hold):
    """Until all are back, after ``duration_s`` at the latest."""

    @property
    def seconds(self) -> float:
        return min(self.duration_s, RESTART_S)

    @property
    def length(self) -> str:
        return f"until all are back, {self.duration_s:g} s at the most"

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "arrival_seed": seed}


def _rejoined(trial: Trial) -> Rejoined | None:
    """What became of those that were away; None where none was."""
    connections = trial.result.connections if trial.result else None
    found = connections.rejoined if connections else None
    return found if found and found.lost else None


def _away_s(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        away_ms = AWAY.read(trial, key)
        return None if away_ms is None else away_ms / 1000

    return read


def _of_rejoined(read: Callable[[Rejoined], float | None]) -> Callable[[Trial], float | None]:
    return lambda trial: read(found) if (found := _rejoined(trial)) else None


def _missed(found: Rejoined) -> float | None:
    return found.missed * found.published / found.expected if found.expected else None


ALL_BACK = Metric(
    "all_back_s",
    "time until all are back",
    "s",
    _of_rejoined(lambda found: inf if found.all_back_s is None else found.all_back_s),
    short="all back",
    first="has them back first",
)
AWAY_P50 = Metric(
    "away_p50_s",
    "time away p50",
    "s",
    _away_s("p50"),
    called="p50 time away",
    short="away p50",
    question="typical time that a connection is away (p50)",
    first="is the shortest",
)
AWAY_P95, AWAY_P99 = (
    Metric(f"away_{key}_s", f"time away {key}", "s", _away_s(key), short=f"away {key}") for key in ("p95", "p99")
)
DOWN = Metric("first_back_s", "time until the first is back", "s", _of_rejoined(lambda found: found.down_s))
MISSED = Metric("missed_per_connection", "messages missed per connection", "", _of_rejoined(_missed))
UNSENT = Metric("unsent_messages", "messages that were not sent", "", _of_rejoined(lambda found: float(found.unsent)))
METRICS = (ALL_BACK, AWAY_P50, AWAY_P95, AWAY_P99, DOWN, MISSED, UNSENT)

KINDS = (
    Kind(
        name="rejoin",
        order=9,
        work=Rejoin,
        paces=(UntilBack,),
        defaults={"duration": 60.0, "warmup": 0.0},  # a server that is to be ended is not warmed up
        cost_unit=CONNECTIONS,
        load_unit="message",
        metrics=METRICS,
        has_metric=lambda test, metric: metric in METRICS,
        judged=(ALL_BACK, AWAY_P50),
        in_one_piece=True,
        heading="Coming back after a restart",
        about=(
            "The server is stopped and started again while clients are connected, and each comes back by itself. A "
            "connection is away from when it was lost until it is able to receive again, for good; all are back when "
            "the last one is, counted from when the first was lost. One that never comes back is away for ever. Missed "
            "are messages that the server took and a connection did not get; not sent, those that were due while the "
            "publisher, a client of the same server, was away itself."
        ),
        caption="Time away: {what}",
        columns={
            ALL_BACK: "all back, s",
            AWAY_P50: "p50, s",
            AWAY_P95: "p95, s",
            AWAY_P99: "p99, s",
            DOWN: "first back, s",
            MISSED: "missed each",
            UNSENT: "not sent",
        },
        optional=("p99, s", "trials", "first back, s", "not sent", "p95, s"),
    ),
)
