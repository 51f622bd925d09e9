"""A closed loop: how many requests are answered when each connection asks again as soon as it is answered?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.formatting import plural
from loadtests.plan import request_options as asked
from loadtests.plan.kinds.base import common
from loadtests.plan.kinds.of_requests import RequestsTest
from loadtests.plan.metrics import Metric, Question, rate, rate_is_generators
from loadtests.records.bounds import Ordinal, Seconds
from loadtests.records.toml import TomlTable
from loadtests.workload import Load, Request
from loadtests.workload.load import MAX_CONNECTIONS

if TYPE_CHECKING:
    from typing_extensions import Self

RPS = Metric(
    "rps",
    "throughput",
    "requests/s",
    rate,
    more_is_better=True,
    called="requests per second",
    short="requests/s",
    question=Question("throughput", "answers the most"),
    says_unit=True,
    cost_units=("requests",),
    is_lower_bound=rate_is_generators,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Throughput(RequestsTest):
    """As much as ``connections`` are answered, for ``duration_s``."""

    kind = "throughput"
    order = 2
    metrics = (RPS,)
    judged = (RPS,)
    decisive = RPS
    heading = "Throughput over time"
    about = (
        "Requests answered well per second. In a closed loop each connection waits for its answer before it asks "
        "again, so a slow server is asked less: read the response times of such a test as part of its throughput."
    )
    caption = "Throughput: {what}"
    columns = {"rps": "requests/s", "p50_ms": "p50, ms", "p99_ms": "p99, ms"}  # noqa: RUF012 - it is never changed
    optional = ("p50, ms", "trials")

    connections: Ordinal
    duration_s: Seconds

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        workload = asked.workload(table, folder)
        asked.no_replay(table, cls.kind)
        fields = common(name, table)
        connections, duration_s = table.whole("connections", 10, MAX_CONNECTIONS), table.seconds("duration")
        return cls(requests=workload.requests, connections=connections, duration_s=duration_s, **fields)

    @property
    def closed_loop(self) -> bool:
        return True

    @property
    def seconds(self) -> float:
        return self.duration_s

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        return Load(
            origin=origin,
            requests=tuple(requests),
            bodies=tuple(bodies),
            connections=self.connections,
            duration_s=self.duration_s,
            warmup_s=self.warmup_s,
            core=core,
        )

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (self.connections, self.requests)

    @property
    def description(self) -> str:
        return f"{self.short_description} as fast as {plural(self.connections, 'connection')} can"

    @property
    def condition(self) -> str:
        return f"with {plural(self.connections, 'connection')}"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"
