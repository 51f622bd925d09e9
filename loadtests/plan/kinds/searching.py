"""What the searches for a highest rate have in common, whatever is sent."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.plan import objective as objectives
from loadtests.plan import request_options as asked
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.over_websocket import ConversingTest, conversing
from loadtests.plan.metrics import Metric, Question
from loadtests.plan.objective import OF_REQUESTS, PRECISION, Objective, SearchPlan, Terms
from loadtests.records import Trial
from loadtests.records.bounds import Positive, Seconds, Share
from loadtests.records.toml import TomlTable
from loadtests.workload import Feature
from loadtests.workload.load import MAX_RATE

if TYPE_CHECKING:
    from typing_extensions import Self

# What a search takes: the mean of nine on a noisy machine. A simulated one, whose server never changes its mind, takes
# fewer long ones. For the time left only.
SHORT_PROBES = 11
LONG_PROBES = 18
# For what is on its way when a probe is over: one that was too much waits for all that was lost.
GRACE_S = 2.0


def _read(trial: Trial) -> float | None:
    return trial.capacity.known if trial.capacity else None


def _at_least(trial: Trial) -> bool:
    return trial.capacity is not None and trial.capacity.at_least


def capacity_of(name: str, counts: str) -> Metric:
    """The metric of that name: the capacity in what is counted (``requests``) per second."""
    return Metric(
        name,
        "capacity",
        f"{counts}/s",
        _read,
        more_is_better=True,
        called="capacity",
        short="capacity",
        question=Question("capacity", "sustains the most"),
        cost_units=(counts,),
        is_lower_bound=_at_least,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchingTest(Test):
    """A search for the highest rate within ``objective``, from ``start_rate`` on and at most ``max_rate`` a second, of
    what it counts, with short probes of ``probe_s`` seconds and long ones of ``confirm_s``, or longer where that has
    too little for the percentile. It ends when pass and fail are ``precision`` apart. ``arrivals`` says when what it
    sends is due: at ``random`` moments, other ones for each probe, or at ``even`` ones.

    The class says in which ``terms`` its objective is, the one that it has where none is given (``within``), and with
    which rate it begins then.
    """

    engine_features = frozenset({Feature.EARLY_STOP, Feature.RESPONSE_TIME})
    optional = ("trials", "probes")
    terms: ClassVar[Terms] = OF_REQUESTS
    within: ClassVar[str] = "p99<50ms"
    begins_at: ClassVar[float] = 100.0

    objective: str
    start_rate: Positive
    max_rate: Positive
    probe_s: Seconds
    confirm_s: Seconds
    arrivals: Annotated[str, Meta(pattern=r"^(random|even)\Z")] = "random"
    precision: Share = PRECISION

    @classmethod
    def searching(cls, table: TomlTable) -> dict[str, Any]:
        """The fields that all searches have, from a study's table. Raises UserError."""
        text = table.take("objective", str, cls.within)
        try:
            objectives.parse(text, cls.terms)
        except ValueError as error:
            raise table.error("objective", str(error)) from None
        start_rate, max_rate = table.positive("start_rate", cls.begins_at), table.positive("max_rate", 100_000.0)
        if max_rate > MAX_RATE:
            raise table.error("max_rate", f"is {max_rate:g}; {MAX_RATE:,.0f} is the highest that can be sent")
        if not 1 <= start_rate <= max_rate:
            raise table.error("start_rate", f"is {start_rate:g}; from 1 to max_rate ({max_rate:g}) is allowed")
        return {
            "objective": text,
            "start_rate": start_rate,
            "max_rate": max_rate,
            "probe_s": table.seconds("probe", 5.0),
            "confirm_s": table.seconds("confirm", 30.0),
            "arrivals": asked.arrivals(table),
            "precision": table.share("precision", PRECISION),
        }

    def knowable(self, table: TomlTable) -> Self:
        """The search itself. Raises UserError where its first probe would be too short to know the percentiles, however
        long it took."""
        try:
            self.search[1].require_knowable()
        except ValueError as error:
            raise table.error("start_rate", str(error)) from None
        return self

    @property
    def counts_each(self) -> float:
        """How many of what it counts each send makes."""
        return 1.0

    @property
    def seconds(self) -> float:
        return SHORT_PROBES * self.probe_s + LONG_PROBES * self.confirm_s

    @property
    def search(self) -> tuple[Objective, SearchPlan]:
        objective = objectives.parse(self.objective, self.terms)
        plan = SearchPlan(
            start_rate=self.start_rate,
            max_rate=self.max_rate,
            short_s=self.probe_s,
            long_s=self.confirm_s,
            precision=self.precision,
            requests=round(objective.requests * self.counts_each),
            counts=self.cost_unit.plural,
            unit=f"{self.cost_unit.plural}/s",
        )
        return objective, plan

    @property
    def can_interleave(self) -> bool:
        return False

    def why_unknown(self, trial: Trial) -> str:
        if self.decisive.read(trial) is not None:
            return ""
        return trial.capacity.sentence if trial.capacity else "no search was made"

    @property
    def sought(self) -> tuple[object, ...]:
        """What makes two searches look for the same, beside what they send."""
        return (self.objective, self.arrivals, self.precision)

    @property
    def description(self) -> str:
        how = ", at random moments" if self.arrivals == "random" else ""
        return f"{self.short_description} at the highest rate within {self.objective}{how}"

    @property
    def condition(self) -> str:
        return f"within {self.objective}"

    @property
    def length(self) -> str:
        return f"{self.probe_s:g} s a probe, {self.confirm_s:g} s to confirm"


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchingConversation(SearchingTest, ConversingTest):
    """One over WebSockets."""

    @classmethod
    def talking(cls, name: str, table: TomlTable) -> dict[str, Any]:
        """The fields that all of them have, from a study's table. Raises UserError."""
        return {**conversing(name, table), **cls.searching(table)}

    @property
    def counts_each(self) -> float:
        return self.conversation.counts_each

    def pace(self, seed: int) -> dict[str, Any]:
        longest_s = max(limit.ms for limit in self.search[0].limits) / 1000
        return {
            "rate": self.start_rate / self.counts_each,
            "timeout_s": max(GRACE_S, 2 * longest_s),
            "arrival_seed": seed if self.arrivals == "random" else None,
            "duration_s": self.probe_s,
            "warmup_s": self.warmup_s,
        }

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, *self.sought)
