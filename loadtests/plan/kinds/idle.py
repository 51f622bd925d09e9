"""WebSockets that are open and say nothing: what does one cost?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from statistics import linear_regression
from typing import TYPE_CHECKING, Any

from loadtests.formatting import plural
from loadtests.plan.cost_unit import HELD
from loadtests.plan.kinds.over_websocket import ConversingTest, conversing
from loadtests.plan.metrics import Metric, Question
from loadtests.records import Connections, Process, Trial
from loadtests.records.bounds import Ordinal, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

IDLE = 1000
STEPS = 4  # numbers of connections at which memory is looked at
STEP_S = 1.0  # about how long that takes at each


def memory_kb(trial: Trial, processes: Iterable[Process]) -> float | None:
    """The memory, in KB, by which some of a trial's processes grow with each connection: the slope of the line through
    what they had at several numbers of connections (least squares). What they allocate once, for the first ones, is not
    in it. None where nothing was opened, or their memory was not looked at."""
    connections = trial.result.connections if trial.result else None
    if connections is None:
        return None
    seen = [points for one in processes if (points := _points(one, connections))]
    slopes = [linear_regression([at for at, _ in points], [mb for _, mb in points]).slope for points in seen]
    return sum(slopes) * 1024 if slopes else None


def _points(process: Process, connections: Connections) -> list[tuple[int, float]]:
    """The memory of a process in MB by the number of connections; where these were opened at once, as in older runs,
    at rest and at the end. None where no two numbers are known."""
    points = list(zip(connections.steps, process.step_rss_mb, strict=False))
    if not process.step_rss_mb and process.idle_rss_mb is not None:
        points = [(0, process.idle_rss_mb), (connections.opened, process.rss_mb)]
    return points if len({number for number, _ in points}) > 1 else []


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
    question=Question("memory a connection", "takes the least"),
    cost_units=(HELD.plural,),
)
OPENED_IN = Metric("opened_in_s", "time to accept all", "s", _opened_in_s, short="all open", cost_units=(HELD.plural,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Idle(ConversingTest):
    """``connections`` are opened and held for ``duration_s``; nothing is sent but answers to the server's heartbeats.

    They are opened in steps, and the memory of the processes is looked at after each. It is never made in slices: of
    that there is only one moment."""

    kind = "idle"
    order = 8
    does = "idle"
    metrics = (MEMORY, OPENED_IN)
    judged = (MEMORY,)
    decisive = MEMORY
    cost_unit = HELD
    load_unit = "connection"
    heading = "Idle WebSockets"
    about = (
        "By how much the processes of a setup grow with each connection: the slope of a line through their memory at "
        "several numbers of connections, so that what they allocate once is not in it. CPU time is that of answering, "
        "sending and awaiting heartbeats."
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
    def needs_memory_at_rest(self) -> bool:
        return True

    @property
    def seconds(self) -> float:
        return self.duration_s

    @property
    def planned_s(self) -> float:
        # What only holds connections is not warmed up.
        return super().planned_s - self.warmup_s + self.steps * STEP_S

    @property
    def can_interleave(self) -> bool:
        return False

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.connections, "steps": self.steps}

    @property
    def steps(self) -> int:
        """In how many steps they are opened."""
        return min(STEPS, self.connections)

    @property
    def held(self) -> int:
        return self.connections

    def pace(self, seed: int) -> dict[str, Any]:
        return {"rate": 0.0, "duration_s": self.duration_s}

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.connections, self.duration_s)

    @property
    def short_description(self) -> str:
        return f"idle WebSockets{self.with_whom}"

    @property
    def description(self) -> str:
        return f"{self.connections:,} {self.short_description}, held for {self.duration_s:g} s"

    @property
    def condition(self) -> str:
        return f"with {plural(self.connections, 'connection')}"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"
