"""An origin that stumbles, at a fixed rate: how long after it is well again is everything as before?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from loadtests.plan import request_options as asked
from loadtests.plan.kinds.base import QUICK, common
from loadtests.plan.kinds.latency import Latency
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.recovery_time import FOR_SECONDS, TIME_SLACK, course
from loadtests.records import Trial
from loadtests.records.toml import TomlTable

if TYPE_CHECKING:
    from typing_extensions import Self


def _read(trial: Trial) -> float | None:
    found = course(trial)
    return found.recovery_s if found else None


RECOVERY = Metric(
    "recovery_s",
    "time to recover",
    "s",
    _read,
    called="time to recover",
    short="recovery",
    better="sooner",
    worse="later",
    question=Question("time to recover once the origin is well again", "is back the soonest"),
    cost_units=("requests",),
    shows_figures=True,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recovery(Latency):
    """``rate`` requests per second, while an origin beside the setup is well, then is not, and in the end is again. It
    is made in one piece, which begins when the origin begins its recipe."""

    kind = "recovery"
    order = 3
    metrics = (RECOVERY,)
    decisive = RECOVERY
    heading = "Recovery"
    about = (
        "The origin is well, then is not, then is again. Time to recover is from that moment to the end of the first "
        f"second that is as before: as many requests are answered well, and their p50 is within {TIME_SLACK:.0%} of "
        f"the usual one, to either side, for {FOR_SECONDS} seconds in a row. What is answered far sooner than usual is "
        "an error or a copy of earlier, and not as before; a copy that a view answers with while the origin fails "
        "counts as answered well, and stands in a column of its own. Lost are the requests that failed from the "
        "origin's first bad moment until then. Response times are of the whole test, what the origin did included."
    )
    caption = "Recovery: {what}"
    columns = {"recovery_s": "recovers in, s", "p50_ms": "p50, ms", "p99_ms": "p99, ms"}  # noqa: RUF012 - never changed
    optional = ("p50, ms", "stale", "trials")  # type: ignore[assignment]

    @classmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        workload = asked.workload(table, folder)
        asked.no_replay(table, cls.kind)
        fields = common(name, table)
        rate, duration_s = table.positive("rate"), table.seconds("duration")
        arrivals = asked.arrivals(table)
        return cls(requests=workload.requests, rate=rate, duration_s=duration_s, arrivals=arrivals, **fields)

    @property
    def judged(self) -> tuple[Metric, ...]:  # type: ignore[override]
        return (RECOVERY,)

    @property
    def can_interleave(self) -> bool:
        return False

    @property
    def fixed_rate(self) -> float | None:
        return None  # that it fails while the origin does is what is asked, and no rate that it cannot hold

    @property
    def allowed_failures(self) -> float:
        return 1.0

    def why_unknown(self, trial: Trial) -> str:
        if RECOVERY.read(trial) is not None:
            return ""
        origin = trial.meanwhile.origin if trial.meanwhile else None
        if origin is None:
            return "there was no origin that could stumble"
        return "it did not hold the rate before the origin stumbled, or the recipe has no stage that does"

    def quick(self) -> Self:
        """As long as ever: the recipe says when what happens."""
        return dataclasses.replace(self, warmup_s=min(QUICK["warmup_s"], self.warmup_s))
