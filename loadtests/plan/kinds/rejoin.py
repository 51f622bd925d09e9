"""A server that is restarted under WebSockets that come back: how long is everybody away, and what is missed?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import CONNECTIONS
from loadtests.plan.kinds.over_websocket import OPENING_S, ConversingTest, conversing
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.percentiles_with_failures import of_rejoined
from loadtests.records import Rejoined, Trial
from loadtests.records.bounds import Ordinal, Positive, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self

# Few enough that each setup holds them with ease, so that coming back is measured and not broadcasts; as many as p95
# takes.
CONNECTIONS_AWAY = 200
RATE = 2.0
JITTER_S = 1.0
AT_MOST_S = 60.0
RESTART_S = 6.0  # about what a server takes to stop and to start, and what goes before and after it
QUICK_CONNECTIONS = 100


def _rejoined(trial: Trial) -> Rejoined | None:
    """What became of those that were away; None where none was."""
    connections = trial.result.connections if trial.result else None
    found = connections.rejoined if connections else None
    return found if found and found.lost else None


def _away_s(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        away_ms = of_rejoined(trial.result, key) if trial.result else None
        return None if away_ms is None else away_ms / 1000

    return read


def _all_back_s(trial: Trial) -> float | None:
    found = _rejoined(trial)
    if found is None:
        return None
    return inf if found.all_back_s is None else found.all_back_s


def _down_s(trial: Trial) -> float | None:
    found = _rejoined(trial)
    return found.down_s if found else None


def _missed(trial: Trial) -> float | None:
    found = _rejoined(trial)
    return found.missed * found.published / found.expected if found and found.expected else None


def _unsent(trial: Trial) -> float | None:
    found = _rejoined(trial)
    return float(found.unsent) if found else None


ALL_BACK = Metric(
    "all_back_s",
    "time until all are back",
    "s",
    _all_back_s,
    called="time until all are back",
    short="all back",
    question=Question("time until all are back", "has them back first"),
)
AWAY_P50 = Metric(
    "away_p50_s",
    "time away p50",
    "s",
    _away_s("p50"),
    called="p50 time away",
    short="away p50",
    question=Question("typical time that a connection is away (p50)", "is the shortest"),
)
AWAY_P95 = Metric("away_p95_s", "time away p95", "s", _away_s("p95"), short="away p95")
AWAY_P99 = Metric("away_p99_s", "time away p99", "s", _away_s("p99"), short="away p99")
DOWN = Metric("first_back_s", "time until the first is back", "s", _down_s, short="first back")
MISSED = Metric("missed_per_connection", "messages missed per connection", "", _missed, short="missed each")
UNSENT = Metric("unsent_messages", "messages that were not sent", "", _unsent, short="not sent")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rejoin(ConversingTest):
    """The server is restarted under ``connections`` in one room, into which ``rate`` messages a second are published.
    Each that is lost comes back after a random part of ``jitter_s``, and again so after each attempt that failed. It is
    over when all are back, after ``duration_s`` at the latest.

    What the processes use is not counted: those that end take it with them, and most of what is left is broadcasts."""

    kind = "rejoin"
    order = 9
    does = "rejoin"
    metrics = (ALL_BACK, AWAY_P50, AWAY_P95, AWAY_P99, DOWN, MISSED, UNSENT)
    judged = (ALL_BACK, AWAY_P50)
    decisive = ALL_BACK
    cost_unit = CONNECTIONS
    load_unit = "message"
    restarts = True
    heading = "Coming back after a restart"
    about = (
        "The server is stopped and started again while clients are connected, and each comes back by itself. A "
        "connection is away from when it was lost until it is able to receive again, for good; all are back when the "
        "last one is, counted from when the first was lost. One that never comes back is away for ever. Missed are "
        "messages that the server took and a connection did not get; not sent, those that were due while the "
        "publisher, a client of the same server, was away itself."
    )
    caption = "Time away: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        ALL_BACK.name: "all back, s",
        AWAY_P50.name: "p50, s",
        AWAY_P95.name: "p95, s",
        AWAY_P99.name: "p99, s",
        DOWN.name: "first back, s",
        MISSED.name: "missed each",
        UNSENT.name: "not sent",
    }
    optional = ("p99, s", "trials", "first back, s", "not sent", "p95, s")

    connections: Ordinal
    rate: Positive
    jitter_s: Seconds
    duration_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        fields = {**conversing(name, table), "warmup_s": 0.0}  # a server that is to be ended is not warmed up
        return cls(
            connections=table.whole("connections", CONNECTIONS_AWAY, MOST_CONNECTIONS),
            rate=table.positive("rate", RATE),
            jitter_s=table.seconds("jitter", JITTER_S),
            duration_s=table.seconds("duration", AT_MOST_S),
            **fields,
        )

    def quick(self) -> Self:
        # How long it takes is the server's, so fewer come back.
        return dataclasses.replace(self, connections=min(self.connections, QUICK_CONNECTIONS))

    def has_metric(self, metric: Metric) -> bool:
        return metric in self.metrics

    @property
    def seconds(self) -> float:
        return min(self.duration_s, RESTART_S + self.jitter_s)

    @property
    def planned_s(self) -> float:
        # They are opened twice.
        return super().planned_s + self.held * OPENING_S

    @property
    def can_interleave(self) -> bool:
        return False

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.connections, "jitter_s": self.jitter_s, "publishes_per_s": self.rate}

    @property
    def held(self) -> int:
        return self.connections + 1

    def pace(self, seed: int) -> dict[str, Any]:
        return {"rate": 0.0, "arrival_seed": seed, "duration_s": self.duration_s}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections, self.rate, self.jitter_s, self.duration_s)

    @property
    def short_description(self) -> str:
        return f"WebSockets that come back after a restart{self.with_whom}"

    @property
    def description(self) -> str:
        within = f"each within {self.jitter_s:g} s of an attempt"
        messages = f"{self.rate:g} messages of {self.size:,} B a second"
        return f"{self.connections:,} {self.short_description}, {within}, {messages}"

    @property
    def condition(self) -> str:
        return f"with {plural(self.connections, 'connection')}"

    @property
    def length(self) -> str:
        return f"until all are back, {self.duration_s:g} s at the most"
