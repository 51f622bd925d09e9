"""WebSockets that are open and say nothing: what does one cost?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests.plan.counted import HELD
from loadtests.plan.kinds.over_websocket import ConversingTest, conversing
from loadtests.plan.metrics import Metric, Question
from loadtests.records import Process, Trial
from loadtests.records.bounds import Ordinal, Seconds
from loadtests.toml import TomlTable
from loadtests.words import plural
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

IDLE = 1000


def memory_kb(trial: Trial, processes: Iterable[Process]) -> float | None:
    """The memory, in KB a connection, by which some of a trial's processes grew from rest until the end of it. None
    where nothing was opened, or their memory at rest was not seen."""
    known = [(one.rss_mb, one.rested_rss_mb) for one in processes if one.rested_rss_mb is not None]
    connections = trial.result.connections if trial.result else None
    if not known or not connections or not connections.opened:
        return None
    return sum(held - rested for held, rested in known) * 1024 / connections.opened


def _opened_in_s(trial: Trial) -> float | None:
    connections = trial.result.connections if trial.result else None
    return connections.opened_in_s if connections else None


MEMORY = Metric(
    "memory_kb_per_connection",
    "memory per connection",
    "KB",
    lambda trial: memory_kb(trial, trial.charged),
    called="memory per connection",
    short="memory",
    better="smaller",
    worse="larger",
    question=Question("memory a connection", "takes the least", "every other takes at least ×{}"),
    of=(HELD.many,),
)
OPENED_IN = Metric("opened_in_s", "time to accept all", "s", _opened_in_s, short="all open", of=(HELD.many,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Idle(ConversingTest):
    """``connections`` are opened and held for ``duration_s``; nothing is sent but answers to the server's heartbeats.

    It is never made in slices: of the memory of processes at rest there is only one moment."""

    kind = "idle"
    place = 8
    does = "idle"
    metrics = (MEMORY, OPENED_IN)
    judged = (MEMORY,)
    decisive = MEMORY
    counted = HELD
    sends = "connection"
    from_rest = True
    heading = "Idle WebSockets"
    about = (
        "What the processes of a setup grew by, from rest until all connections had been open for a while, over the "
        "connections that were opened; CPU time is that of answering, sending and awaiting heartbeats."
    )
    caption = "Cost of a connection: {what}"
    columns = {  # noqa: RUF012 - it is never changed
        MEMORY.name: "KB each",
        OPENED_IN.name: "all open after, s",
        HELD.cpu.name: "CPU µs/s each",
    }
    optional = ("trials",)

    connections: Ordinal
    duration_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        connections = table.whole("connections", IDLE, MOST_CONNECTIONS)
        return cls(connections=connections, duration_s=table.seconds("duration"), **conversing(name, table))

    @property
    def seconds(self) -> float:
        return self.duration_s

    @property
    def planned_s(self) -> float:
        # What only holds connections is not warmed up.
        return super().planned_s - self.warmup_s

    @property
    def in_slices(self) -> bool:
        return False

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.connections}

    @property
    def held(self) -> int:
        return self.connections

    def pace(self, seed: int) -> dict[str, Any]:
        return {"rate": 0.0, "duration_s": self.duration_s}

    @property
    def asks(self) -> tuple[object, ...]:
        return (*super().asks, self.connections, self.duration_s)

    @property
    def asked(self) -> str:
        return f"idle WebSockets{self.with_whom}"

    @property
    def what(self) -> str:
        return f"{self.connections:,} {self.asked}, held for {self.duration_s:g} s"

    @property
    def condition(self) -> str:
        return f"with {plural(self.connections, 'connection')}"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"
