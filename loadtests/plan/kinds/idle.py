"""Open WebSockets without messages, to measure the cost of a connection."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from statistics import linear_regression
from typing import Any

from loadtests.plan.cost_unit import HELD
from loadtests.plan.kinds.pace import Hold
from loadtests.plan.kinds.talk import Connections, Talk
from loadtests.records import Connections as ConnectionsRecord
from loadtests.records import Process, Trial

STEPS = 4  # The number of steps. The memory is measured after each step.
STEP_S = 1.0  # The approximate time of a step.


def memory_kb(trial: Trial, processes: Iterable[Process]) -> float | None:
    """Return how much the memory of some processes in a trial grows per connection, in KB.

    This is the slope of the least-squares line through the memory at several numbers of connections. The slope doesn't
    include memory that is allocated once.

    Returns:
        The growth, or None if no connections were opened or the memory wasn't measured.
    """
    connections = trial.result.connections if trial.result else None
    if connections is None:
        return None
    grown = [points for one in processes if (points := _points(one, connections))]
    slopes = [linear_regression([at for at, _ in points], [mb for _, mb in points]).slope for points in grown]
    return sum(slopes) * 1024 if slopes else None


def _points(process: Process, connections: ConnectionsRecord) -> list[tuple[int, float]]:
    """Return pairs of a number of connections and the memory of a process in MB.

    Older runs opened all connections at once. For these runs, use the memory before the load and at the end.

    Returns:
        The pairs, or an empty list if fewer than two numbers of connections are known.
    """
    points = list(zip(connections.steps, process.step_rss_mb, strict=False))
    if not process.step_rss_mb and process.idle_rss_mb is not None:
        points = [(0, process.idle_rss_mb), (connections.opened, process.rss_mb)]
    return points if len({number for number, _ in points}) > 1 else []


def _opened_in_s(trial: Trial) -> float | None:
    connections = trial.result.connections if trial.result else None
    return connections.opened_in_s if connections else None


MEMORY = HELD.metric(
    "memory_kb_per_connection",
    "memory per connection",
    "KB",
    lambda trial: memory_kb(trial, trial.charged),
    short="memory",
    better="smaller",
    worse="larger",
    question="memory per connection",
    first="takes the least",
)
OPENED_IN = HELD.metric("opened_in_s", "time to accept all", "s", _opened_in_s)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Idle(Talk):
    """Open and hold ``connections`` connections, and send only answers to the server's heartbeats.

    The connections are opened in steps, and the memory of the processes is measured after each step.
    """

    does = "idle"
    tag = "idle"
    order = 8
    paces = (Hold,)
    cost_unit = HELD
    load_unit = "connection"
    metrics = (MEMORY, OPENED_IN)
    verdicts = (MEMORY,)
    heading = "Idle WebSockets"
    about = (
        "The growth of the memory of a setup's processes with each connection: the slope of a line through their "
        "memory at several numbers of connections, so that fixed allocations don't count. The CPU time is "
        "spent on heartbeats."
    )
    caption = "Cost of a connection: {what}"
    table = {MEMORY: "KB each", OPENED_IN: "all open after, s", HELD.cpu: "CPU µs/s each"}
    optional = ("trials",)

    connections: Connections = 1000

    @property
    def steps(self) -> int:
        return min(STEPS, self.connections)

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.connections, "steps": self.steps}

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        return super().opening_s + self.steps * STEP_S

    @property
    def subject(self) -> str:
        return f"idle WebSockets{self._who}"

    @property
    def description(self) -> str:
        return f"{self.connections:,} {self.short_description}, held for {self.pace.length}"
