"""Define searches for the highest rate within an objective."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.plan import objective as objectives
from loadtests.plan.kinds.pace import Arrivals, Pace, moments
from loadtests.plan.objective import PRECISION, Limit, Objective, SearchPlan
from loadtests.records.bounds import Positive, Share
from loadtests.records.decode import Duration
from loadtests.workload import Feature
from loadtests.workload.load import MAX_RATE

if TYPE_CHECKING:
    from loadtests.plan.kinds.work import Work

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

    def __post_init__(self) -> None:
        least, most = self.rates
        if self.max_rate > most:
            raise ValueError(f"max_rate: must be at most {most:,.0f}, not {self.max_rate:g}")
        if not least <= self.start_rate <= self.max_rate:
            allowed = f"must be from {least:g} to max_rate ({self.max_rate:g})"
            raise ValueError(f"start_rate: {allowed}, not {self.start_rate:g}")

    @property
    def rates(self) -> tuple[float, float]:
        """The lowest and the highest rate that a search can try."""
        return 1.0, MAX_RATE

    @property
    def seconds(self) -> float:
        short, long = self.probes
        return SHORT_LASTS * short * self.probe_s + long * self.confirm_s + (short + long) * BETWEEN_S

    @property
    def probes(self) -> tuple[int, int]:
        """The approximate numbers of short and long probes."""
        return PROBES_FINE if self.step_ratio < COARSE else PROBES_COARSE

    @property
    def length(self) -> str:
        return f"{self.probe_s:g} s per probe, {self.confirm_s:g} s to confirm"

    @property
    @abstractmethod
    def step_ratio(self) -> float:
        """The final ratio between the lowest failed rate and the highest passed rate, minus 1."""

    def condition(self, work: Work, unit: str) -> str:
        return f"within {self.objective}"

    def plan(self, work: Work, counts: str, unit: str) -> tuple[Objective, SearchPlan]:
        """Return the objective and the plan of the search.

        Args:
            work: The work of the test.
            counts: The name of the units that a probe must measure, such as ``requests``.
            unit: The unit of rates, such as ``requests/s``.

        Raises:
            ValueError: If the objective isn't valid. The text starts with the key.
        """
        objective = objectives.parse(self.objective, work.terms)
        return objective, SearchPlan(
            start_rate=self.start_rate,
            max_rate=self.max_rate,
            min_rate=self.rates[0],
            short_s=self.probe_s,
            long_s=self.confirm_s,
            precision=self.step_ratio,
            requests=round(self.needed(objective, work)),
            counts=counts,
            unit=unit,
            whole=self.whole,
        )

    def limits(self, work: Work) -> tuple[Limit, ...]:
        """Return the limits of the objective."""
        return objectives.parse(self.objective, work.terms).limits

    def needed(self, objective: Objective, work: Work) -> float:
        """Return how many units, such as requests, a probe needs for the objective's percentiles."""
        return objective.requests * work.counts_each


@dataclasses.dataclass(frozen=True, kw_only=True)
class RateSearch(Search):
    """A search for the highest rate. Each probe has different random arrivals."""

    arrivals: Arrivals = "random"
    precision: Annotated[Share, Meta(description="The final ratio of failed to passed rate, minus 1.")] = PRECISION

    compared = ("objective", "arrivals", "precision")

    @property
    def step_ratio(self) -> float:
        return self.precision

    def phrase(self, work: Work, unit: str) -> str:
        return f" at the highest rate within {self.objective}{moments(self.arrivals)}"

    def load(self, seed: int) -> dict[str, Any]:
        return {
            "rate": self.start_rate,
            "arrival_seed": seed if self.arrivals == "random" else None,
            "duration_s": self.probe_s,
        }
