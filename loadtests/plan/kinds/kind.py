"""Define the class of all kinds of tests. A kind has a work, possible paces, texts and metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from loadtests.plan import fields
from loadtests.plan.cost_unit import REQUESTS, CostUnit
from loadtests.plan.fields import Keys, TablePlace
from loadtests.plan.kinds.pace import Pace
from loadtests.plan.kinds.search import RateSearch
from loadtests.plan.kinds.work import Work
from loadtests.plan.metrics import Metric
from loadtests.plan.objective import MAX_ERRORS
from loadtests.plan.percentiles import knowable
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.decode import LONGEST_S
from loadtests.records.result import PERCENTILES
from loadtests.workload import DEFAULT_ENGINE

if TYPE_CHECKING:
    from loadtests.plan.kinds.base import Test

WARMUP_S = 2.0

Warmup = Annotated[
    float, Meta(ge=0, le=LONGEST_S, extra={"duration": True}, description="The duration of the warm-up load.")
]
Percentiles = Annotated[
    tuple[Literal["p50", "p95", "p99"], ...],
    Meta(description="The percentiles with verdicts. By default, the kind's own percentiles."),
]
Answers = Annotated[
    tuple[Literal["open", "opened/1,000 requests", "left", "too many clients"], ...],
    Meta(
        description="Counts of database connections that answer the test's question. The report starts with these "
        "counts."
    ),
]
MetricOf = Callable[["Test"], Metric]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """A kind of test, with its work, paces, texts and metrics. ``loadtests.plan.kinds`` finds all kinds.

    Args:
        paces: The possible paces. The keys of a table select a pace, and the last pace is the default.
        defaults: The kind's own defaults for keys.
        judged: The metrics with verdicts. Use only a few, because each metric widens all intervals.
        decisive: The metric that ranks the cells of a sweep. The default is the first metric in ``judged``.
        loop_judged: The metrics with verdicts in a closed loop, if they differ from ``judged``.
        metrics: The metrics that only this kind has.
        supporting_metrics: The metrics that must be shown with the metrics in ``judged``.
        cost_unit: The unit by which the cost is divided.
        load_unit: The name of one sent request or message.
        time_name: The name of the times that the engine measures from the intended send.
        timed_unit: The unit for which these times are measured, such as ``request``.
        heading: The heading of the kind's section in a report.
        about: The introduction of the section.
        caption: The caption of a test's table. ``{what}`` is the test's description, and ``{latency}`` the measured
            time (see ``loadtests.plan.metrics``).
        columns: The columns of the table, with their headings.
        optional: The headings of columns that are left out on narrow pages, in this order.
    """

    name: str
    order: int
    work: type[Work]
    paces: tuple[type[Pace], ...]
    heading: str
    about: str
    caption: str
    columns: Mapping[Metric, str]
    optional: tuple[str, ...] = ()
    judged: tuple[Metric | MetricOf, ...]
    decisive: Metric | MetricOf | None = None
    loop_judged: tuple[Metric, ...] = ()
    answers: tuple[TrialCount, ...] = ()
    """Counts that, instead of metrics, answer the test's question. A report starts with these counts."""
    metrics: tuple[Metric, ...] = ()
    supporting_metrics: tuple[Metric, ...] = ()
    further_metrics: tuple[Metric, ...] = ()
    """Metrics of another cost unit that trials of this kind also have."""
    has_metric: Callable[[Test, Metric], bool] = lambda test, metric: True
    """A function that returns whether a test has a metric of this cost unit. By default, a test has every metric."""
    cost_unit: CostUnit = REQUESTS
    load_unit: str = "request"
    time_name: str = "response time"
    timed_unit: str = ""
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    in_one_piece: bool = False
    """Whether the load is never sent in slices, and isn't shortened by ``--quick``."""
    allowed_failures: float = MAX_ERRORS
    """The share of requests, from 0 to 1, that may fail without making the figures doubtful."""
    why_unknown: Callable[[Trial], str] | None = None
    """A function that returns the reason why a valid trial lacks the decisive metric."""
    ceiling: Kind | None = None
    """The kind of the test that measures the ceiling, if the run chooses the rate. The default is this kind."""
    ceiling_metric: Metric | None = None
    """The metric of the rate that a setup sustains in a test of the ceiling. The default is the rate of answers."""

    def __str__(self) -> str:
        return self.name

    def keys(self, values: Mapping[str, Any]) -> Keys:
        """Return the allowed keys in a TOML table with these values, with their types and defaults."""
        common: Keys = {
            "kind": (Annotated[str, Meta(description="The kind of test. The default is the test's name.")], self.name),
            "engine": (Annotated[str, Meta(description="The program that generates the load.")], DEFAULT_ENGINE),
            "warmup": (Warmup, WARMUP_S),
            "services": (Annotated[tuple[str, ...], Meta(description="Supporting services to run.")], ()),
            "recipe": (Annotated[str, Meta(description="The origin's recipe: a name or a file.")], ""),
            "percentiles": (Percentiles, ()),
            "answers": (Answers, ()),
        }
        pace: type[Pace] = fields.chosen(self.paces, values)
        work = self.work.keys(values)
        found = fields.merged(
            {**common, **work, **pace.keys(values)}, (work, *(other.keys(values) for other in self.paces))
        )
        return {key: (kind, self.defaults.get(key, default)) for key, (kind, default) in found.items()}

    def judged_in(self, test: Test, percentiles: Collection[str]) -> tuple[Metric, ...]:
        """Return the metrics with verdicts for a test.

        Args:
            test: The test whose metrics are returned.
            percentiles: The percentiles with verdicts. If empty, use the kind's own percentiles.
        """
        shares = {PERCENTILES[key] for key in percentiles or PERCENTILES}
        metrics = (self.loop_judged if test.pace.is_closed_loop else ()) or self.judged
        found = (one.of(test, shares) if isinstance(one, Farthest) else metric_in(test, one) for one in metrics)
        return tuple(dict.fromkeys(one for one in found if one.percentile is None or one.percentile in shares))

    def parse(self, name: str, table: Mapping[str, Any], place: TablePlace) -> Test:
        """Create a test from a study's table.

        Raises:
            UserError: If the table isn't valid.
        """
        from loadtests.plan.kinds.base import Test

        try:
            values = fields.read(table, self.keys(table), place)
            pace = fields.chosen(self.paces, table)
            return Test(
                name=name,
                kind=self,
                work=self.work.from_keys(values, place),
                pace=pace.from_keys(values, place),
                engine=values["engine"],
                warmup_s=values["warmup"],
                services=values["services"],
                recipe=_recipe(values["recipe"], place),
                percentiles=values["percentiles"],
                answers=values["answers"],
            )
        except ValueError as error:
            raise place.error(str(error)) from None


def _recipe(name: str, place: TablePlace) -> str:
    """Return the name of an included recipe, or the absolute path of a recipe's file."""
    return str(place.inside("recipe", name)) if "/" in name or name.endswith(".json") else name


def metric_in(test: Test, one: Metric | MetricOf) -> Metric:
    """Return a metric itself, or the metric that a function selects for this test."""
    return one if isinstance(one, Metric) else one(test)


def searching(metric: Metric, objective: str, shown: Mapping[Metric, str] | None = None, **row: Any) -> Kind:
    """Create the kind of a search for the highest rate.

    Args:
        metric: The metric of the capacity.
        objective: The default objective.
        shown: Additional columns of the table, with their headings.
        row: The other fields of the kind.
    """
    return Kind(
        paces=(RateSearch,),
        defaults={"objective": objective, **row.pop("defaults", {})},
        metrics=(metric,),
        judged=(metric,),
        caption="Capacity: {what}",
        columns={metric: f"capacity, {metric.unit}", **(shown or {})},
        optional=("trials", "probes"),
        **row,
    )


# msgspec reads studies, which contain tests, but it must not convert the fields of kinds, which records don't contain.
del Kind.__dataclass_fields__


@dataclasses.dataclass(frozen=True)
class Farthest:
    """Select the highest percentile in ``metrics`` for which a trial has enough samples, or else the last metric."""

    metrics: tuple[Metric, ...]

    def __call__(self, test: Test) -> Metric:
        return self.of(test, {one.percentile for one in self.metrics})

    def of(self, test: Test, shares: Collection[float | None]) -> Metric:
        """Select a metric as in ``__call__``, but only from the percentiles in ``shares``."""
        samples = test.work.samples(test.pace)
        allowed = [one for one in self.metrics if one.percentile in shares] or self.metrics
        known = (one for one in allowed if one.percentile and knowable(one.percentile, samples))
        return next(known, allowed[-1])
