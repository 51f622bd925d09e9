"""A fixed rate, or a recording at its own pace: how long does an answer take?

The rate may be left to the run: ``auto``, a share of what the slowest setup holds (see ``loadtests.measure.ceilings``).
Well below all ceilings every setup is asked the same, and none has a queue that only grows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from loadtests.formatting import per_second, plural
from loadtests.plan import request_options as asked
from loadtests.plan.cost_unit import CPU
from loadtests.plan.kinds.base import LoadStep, Test, common, digest
from loadtests.plan.kinds.of_requests import RequestsTest
from loadtests.plan.kinds.throughput import Throughput
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric
from loadtests.plan.percentiles import knowable
from loadtests.plan.request_options import SHARE
from loadtests.records.bounds import Amount, Count, Positive, Share
from loadtests.records.toml import TomlTable
from loadtests.workload import Load, Request

if TYPE_CHECKING:
    from typing_extensions import Self


CEILING_CONNECTIONS = 16  # a setup that is kept busy by fewer is so by these
CEILING_S = 1.0
UNKNOWN_RATE = 1.0  # stands for a rate that is not known yet


@dataclasses.dataclass(frozen=True, kw_only=True)
class Latency(RequestsTest):
    """``rate`` requests per second for ``duration_s``. ``arrivals`` says when each is due: at ``random`` moments, as of
    users who know nothing of each other, at ``even`` ones, or as ``recorded``.

    ``auto`` is the share of the slowest setup's ceiling that the rate is, where that was left to the run: it is None
    until the ceilings are known.

    A replay has, in ``recorded``, when each send is due (seconds after the start) and the index of its request, at
    ``speed`` times the recorded speed; ``rate`` is then the mean one.
    """

    kind = "latency"
    order = 1
    decisive = P99
    heading = "Latency"
    about = (
        "Response time is counted from the moment a request should have been sent, so waiting counts even when the "
        "generator or the server is late; service time, which is all that some engines know, from the moment it "
        "was. Percentiles are taken in each trial, then their mean over trials."
    )
    caption = "{latency}, ms: {what}"
    columns = {metric.name: metric.short for metric in TIMES}  # noqa: RUF012 - it is never changed
    optional = ("p95", "p90", "p99.9", "trials")
    summarised_fields = ("name", "requests", "recorded")

    rate: Positive | None
    auto: Share | None = None
    duration_s: Positive
    arrivals: Annotated[str, Meta(pattern=r"^(random|even|recorded)\Z")] = "random"
    recorded: tuple[tuple[Amount, Count], ...] = ()
    speed: Positive | None = None

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        workload = asked.workload(table, folder)
        replay = asked.replay(table, workload)
        fields = common(name, table)
        if replay is None:
            replay = {**asked.rate(table), "duration_s": table.seconds("duration"), "arrivals": asked.arrivals(table)}
        return cls(requests=workload.requests, **fields, **replay)

    @property
    def can_interleave(self) -> bool:
        return super().can_interleave and not self.recorded

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        """The typical time, and the highest percentile that a trial knows of those that users notice."""
        knows_p99 = self.rate is None or knowable(99.0, int(self.rate * self.duration_s))
        return (P50, P99 if knows_p99 else P95, CPU)

    @property
    def fixed_rate(self) -> float | None:
        return self.rate

    @property
    def ceiling_test(self) -> Test | None:
        if self.rate is not None:
            return None
        return Throughput(
            name=self.name,
            warmup_s=min(self.warmup_s, CEILING_S),
            requests=self.requests,
            services=self.services,
            recipe=self.recipe,
            connections=CEILING_CONNECTIONS,
            duration_s=CEILING_S,
        )

    @property
    def load_step(self) -> LoadStep | None:
        if self.recorded or self.rate is None:
            return None
        brief, words = f"{per_second(self.rate)}/s", f"{per_second(self.rate)} requests/s"
        alike = (self.engine, self.recipe, self.arrivals, self.requests)
        return LoadStep(self.rate, "requests per second", brief, words, alike)

    def at_rate(self, rate: float) -> Self:
        return self if self.recorded else dataclasses.replace(self, rate=rate, auto=None)

    def at_ceiling(self, ceiling: float) -> Self:
        # Two digits, for whoever reads it.
        return dataclasses.replace(self, rate=float(f"{ceiling * (self.auto or SHARE):.2g}"))

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
            recorded=tuple(send for send in self.recorded if send[0] < self.duration_s),
            rate=self.rate or UNKNOWN_RATE,
            arrival_seed=seed if self.arrivals == "random" else None,
            duration_s=self.duration_s,
            warmup_s=self.warmup_s,
            core=core,
        )

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (self.rate, self.arrivals, self.speed, self.requests, self.recorded)

    @property
    def short_description(self) -> str:
        return f"a recording of {plural(len(self.recorded), 'request')}" if self.recorded else super().short_description

    @property
    def exact_description(self) -> str:
        if not self.recorded:
            return super().exact_description
        return (
            f"{self.short_description} ({digest([*(request.to_dict() for request in self.requests), *self.recorded])})"
        )

    @property
    def description(self) -> str:
        if self.recorded:
            pace = f"{self.speed:g} times its pace, {self.rate:.4g} requests per second on average"
            return f"{self.short_description} at {pace}"
        how = ", at random moments" if self.arrivals == "random" else ""
        if self.rate is None:
            return f"{self.short_description} at {self.auto:.0%} of what the slowest setup holds{how}"
        return f"{self.short_description} at {self.rate:g} requests per second{how}"

    @property
    def condition(self) -> str:
        if self.rate is None:
            return f"at {self.auto:.0%} of what the slowest setup holds"
        return f"at {self.rate:g} requests/s"

    @property
    def length(self) -> str:
        return f"{self.duration_s:g} s"

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        arrivals = "random" if self.recorded else self.arrivals
        return dataclasses.replace(self, requests=requests, recorded=(), speed=None, arrivals=arrivals)
