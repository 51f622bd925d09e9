"""The highest rate of requests within an objective."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.plan import request_options as asked
from loadtests.plan.kinds.base import common
from loadtests.plan.kinds.of_requests import RequestsTest
from loadtests.plan.kinds.searching import SearchingTest, capacity_of
from loadtests.records.toml import TomlTable
from loadtests.workload import Load, Request

if TYPE_CHECKING:
    from typing_extensions import Self

CAPACITY = capacity_of("capacity_rps", "requests")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Capacity(SearchingTest, RequestsTest):
    """A search for the highest rate of requests."""

    kind = "capacity"
    order = 3
    metrics = (CAPACITY,)
    judged = (CAPACITY,)
    decisive = CAPACITY
    heading = "Capacity"
    about = (
        "The highest fixed rate at which long probes together are within the objective: response times from the "
        "intended send, errors, at least 99% of the planned requests answered in time, and a backlog that does "
        "not grow. Where the generator, the highest rate allowed or the time ended a search, the server's capacity is "
        "at least what was reached, and is told so; where the number of probes ended it, it is not known."
    )
    caption = "Capacity: {what}"
    columns = {"capacity_rps": "capacity, requests/s"}  # noqa: RUF012 - it is never changed

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        workload = asked.workload(table, folder)
        asked.no_replay(table, cls.kind)
        found = cls(requests=workload.requests, **common(name, table), **cls.searching(table))
        return found.knowable(table)

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        return Load(
            origin=origin,
            requests=tuple(requests),
            bodies=tuple(bodies),
            rate=self.start_rate,
            arrival_seed=seed if self.arrivals == "random" else None,
            duration_s=self.probe_s,
            warmup_s=self.warmup_s,
            core=core,
        )

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*self.sought, self.requests)
