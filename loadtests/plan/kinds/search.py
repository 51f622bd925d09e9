"""Define searches for the highest rate within an objective."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.plan import objective as objectives
from loadtests.plan.kinds.pace import Arrivals, Pace, moments
from loadtests.plan.objective import PRECISION, Objective, SearchPlan
from loadtests.records.bounds import Positive, Share
from loadtests.records.decode import Duration
from loadtests.workload import Feature
from loadtests.workload.load import MAX_RATE

if TYPE_CHECKING:
    from loadtests.plan.kinds.base import Test

# The averages of simulated searches, used only to estimate the duration of a search.
SHORT_LASTS = 1.4  # The mean duration of short probes, as a multiple of ``probe_s``. Bisecting probes are longer.
PROBES_FINE, PROBES_COARSE = (11, 3), (7, 2)  # Numbers of short and long probes for a precision of 3% and of 10%.
COARSE = 0.06
BETWEEN_S = 1.0  # The pause between probes, until the generator is ready.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Search(Pace):
    """A search for the highest rate within ``objective``.

    The search starts at ``start_rate``. It uses short probes of ``probe_s`` seconds (some are two or three times as
    long) and long probes of ``confirm_s`` seconds. If a long probe would have too few requests for the percentile, the
    probe takes longer.
    """

    engine_features = frozenset({Feature.EARLY_STOP, Feature.RESPONSE_TIME})

    objective: Annotated[str, Meta(description="The objective, such as 'p99<50ms, errors<0.1%'.")]
    start_rate: Annotated[Positive, Meta(description="The rate of the first probe.")] = 100.0
    max_rate: Annotated[float, Meta(gt=0, le=MAX_RATE, description="The highest rate to try.")] = 100_000.0
    probe_s: Annotated[Duration, Meta(description="The duration of a short probe.")] = 2.0
    confirm_s: Annotated[Duration, Meta(description="The duration of a confirming probe.")] = 30.0

    unit: ClassVar[str] = ""  # The unit of rates. If empty, the test's unit per second, such as requests/s.
    whole: ClassVar[bool] = False  # Whether the search tries only whole numbers.
    min_rate: ClassVar[float] = 1.0
    most: ClassVar[float] = MAX_RATE  # The highest rate that the load allows.
    precision: ClassVar[float] = 0.1
    """The final ratio between the lowest failed rate and the highest passed rate, minus 1."""

    @property
    def seconds(self) -> float:
        short, long = self.probes
        return SHORT_LASTS * short * self.probe_s + long * self.confirm_s + (short + long) * BETWEEN_S

    @property
    def probes(self) -> tuple[int, int]:
        """The approximate numbers of short and long probes."""
        return PROBES_FINE if self.precision < COARSE else PROBES_COARSE

    @property
    def length(self) -> str:
        return f"{self.probe_s:g} s per probe, {self.confirm_s:g} s to confirm"

    def condition(self, test: Test) -> str:
        return f"within {self.objective}"

    def plan(self, test: Test) -> tuple[Objective, SearchPlan]:
        """Return the objective and the plan of the search.

        Raises:
            ValueError: If the objective or a rate isn't valid. The text starts with the key.
        """
        for key, rate in ("start_rate", self.start_rate), ("max_rate", self.max_rate):
            if rate > self.most:
                raise ValueError(f"{key}: must be at most {self.most:,.0f}, not {rate:g}")
        objective = objectives.parse(self.objective, test.terms)
        return objective, SearchPlan(
            start_rate=self.start_rate,
            max_rate=self.max_rate,
            min_rate=1.0 if self.whole else self.min_rate,
            short_s=self.probe_s,
            long_s=self.confirm_s,
            precision=self.precision,
            requests=round(self.needed(objective, test)),
            unit=self.unit or f"{test.cost_unit.plural}/s",
            whole=self.whole,
        )

    def needed(self, objective: Objective, test: Test) -> float:
        """Return how many units, such as requests, a probe needs for the objective's percentiles."""
        return objective.requests * test.counts_each


@dataclasses.dataclass(frozen=True, kw_only=True)
class RateSearch(Search):
    """A search for the highest rate. Each probe has different random arrivals."""

    arrivals: Arrivals = "random"
    precision: Annotated[  # type: ignore[misc]
        Share, Meta(description="The final ratio of failed to passed rate, minus 1.")
    ] = PRECISION

    compared = ("objective", "arrivals", "precision")

    def phrase(self, test: Test) -> str:
        return f" at the highest rate within {self.objective}{moments(self.arrivals)}"

    def load(self, seed: int) -> dict[str, Any]:
        return {
            "rate": self.start_rate,
            "arrival_seed": seed if self.arrivals == "random" else None,
            "duration_s": self.probe_s,
        }
