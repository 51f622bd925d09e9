"""Define the base class of all tests. A subclass is a kind of test, or the common part of several kinds.

A test consists of the content of its load (the fields of the subclass) and the timing of its load (``pace``). The class
attributes of a kind contain its texts and metrics.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan import database_times, fields, held_connections, slices
from loadtests.plan.cost_unit import REQUESTS, CostUnit
from loadtests.plan.fields import Fields, Keys, TablePlace
from loadtests.plan.kinds.pace import ClosedLoop, Pace, ShareOfCeiling, chosen
from loadtests.plan.kinds.search import RateSearch, Search
from loadtests.plan.load_step import LoadStep
from loadtests.plan.metrics import Metric
from loadtests.plan.objective import MAX_ERRORS, OF_REQUESTS, Objective, SearchPlan, Terms
from loadtests.plan.percentiles import knowable
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.bounds import Name
from loadtests.records.decode import LONGEST_S
from loadtests.records.result import PERCENTILES
from loadtests.workload import DEFAULT_ENGINE, Load, Request, SignIn

if TYPE_CHECKING:
    from typing import Self

START_S = 1.5  # The time to start, check and stop a setup, used only to estimate the remaining time.
QUICK_WARMUP_S = 1.0  # The warm-up with --quick.
CEILING_S = 1.0  # The duration of a search for the ceiling.
CEILING_CONNECTIONS = 16  # more connections wouldn't saturate any additional setup
LOGIN_S = 0.3  # the approximate time of a login, mostly for the check of Django's default password hash
RECIPE_KNOB = "ORIGIN_RECIPE"
# If these fields differ between runs, they aren't shown separately, because the exact description includes them.
SUMMARISED = ("name", "requests", "recorded", "journey", "path", "file_digest")


@dataclasses.dataclass(frozen=True)
class StartOptions:
    """The options with which a setup is started for a test: supporting services and knobs.

    Tests with the same options can share a server.
    """

    services: tuple[str, ...] = ()
    knobs: tuple[tuple[str, str], ...] = ()


NO_START_OPTIONS = StartOptions()


@dataclasses.dataclass(frozen=True)
class Farthest:
    """Select the highest percentile in ``metrics`` for which a trial has enough samples, or else the last metric."""

    metrics: tuple[Metric, ...]

    def of(self, test: Test, shares: Collection[float | None] | None = None) -> Metric:
        """Return the metric for a test. If ``shares`` isn't None, select only from these percentiles."""
        allowed = [one for one in self.metrics if shares is None or one.percentile in shares] or self.metrics
        known = (one for one in allowed if one.percentile and knowable(one.percentile, test.samples))
        return next(known, allowed[-1])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Test(Fields):
    """A test of setups.

    A class with a ``tag`` is a kind, and ``loadtests.plan.kinds`` finds it. The other class attributes:

    Args:
        tag: The name of the kind.
        order: The place of the kind in a report.
        paces: The possible paces. The keys of a table select a pace, and the last pace is the default.
        defaults: The kind's own defaults for keys.
        verdicts: The metrics with verdicts, by default ``metrics``. Use only a few, because each widens all intervals.
        ranking: The metric that ranks the setups. The default is the first metric in ``verdicts``.
        loop_verdicts: The metrics with verdicts in a closed loop, if they differ from ``verdicts``.
        leading_counts: Counts that, instead of metrics, answer the test's question. A report starts with these counts.
        metrics: The metrics that only this kind has.
        supporting_metrics: The metrics that must be shown with the metrics in ``verdicts``.
        further_metrics: Metrics of another cost unit that trials of this kind also have.
        cost_unit: The unit that divides the cost.
        load_unit: The name of one sent request or message.
        time_name: The name of the times that the engine measures from the intended send.
        timed_unit: The unit for which these times are measured, such as ``request``.
        heading: The heading of the kind's section in a report.
        about: The introduction of the section.
        caption: The caption of a test's table. ``{what}`` is the test's description, and ``{latency}`` the measured
            time (see ``loadtests.plan.metrics``).
        table: The columns of the table, with their headings.
        optional: The headings of columns that are left out on narrow pages, in this order.
        terms: The limits that an objective can contain.
        in_slices: Whether the load can be split into slices.
        has_load_curve: Whether tests that differ only in their rate form a load curve.
        failures_allowed: The share of requests, from 0 to 1, that may fail without making the figures doubtful.
        ceiling_kind: The kind of the test that measures the ceiling. The default is this kind.
        ceiling_metric: The metric of the rate that a setup sustains in that test. The default is the rate of answers.
        slice_grace_s: The seconds for which the first slice waits for outstanding requests, or None for the timeout of
            a request.
        requests: The requests that every setup must answer in the same way before the load.
        deployment: The way in which servers are replaced under load, if they are.
        files_unchanged: Whether the test's files are the same as when the test was created.
        opening_s: The approximate seconds to open connections or streams.
        counts_each: The number of counted units, such as deliveries, for each message.
        knobs: The knobs with which setups are started.
        waits_on_purpose: Whether views wait for something other than the CPU, so that a setup at its limit can have
            idle cores.
        rare: The fields that records contain only if their values differ from the defaults.
    """

    __test__ = False  # pytest must not collect this class

    tag: ClassVar[str]
    order: ClassVar[int]
    paces: ClassVar[tuple[type[Pace], ...]]
    defaults: ClassVar[Mapping[str, Any]] = {}
    verdicts: ClassVar[tuple[Metric | Farthest, ...]] = ()
    ranking: ClassVar[Metric | Farthest | None] = None
    loop_verdicts: ClassVar[tuple[Metric, ...]] = ()
    leading_counts: ClassVar[tuple[TrialCount, ...]] = ()
    metrics: ClassVar[tuple[Metric, ...]] = ()
    supporting_metrics: ClassVar[tuple[Metric, ...]] = ()
    further_metrics: ClassVar[tuple[Metric, ...]] = ()
    cost_unit: ClassVar[CostUnit] = REQUESTS
    load_unit: ClassVar[str] = "request"
    time_name: ClassVar[str] = "response time"
    timed_unit: ClassVar[str] = ""
    heading: ClassVar[str]
    about: ClassVar[str]
    caption: ClassVar[str]
    table: ClassVar[Mapping[Metric, str]]
    optional: ClassVar[tuple[str, ...]] = ()
    terms: ClassVar[Terms] = OF_REQUESTS
    in_slices: ClassVar[bool] = True
    has_load_curve: ClassVar[bool] = False
    failures_allowed: ClassVar[float] = MAX_ERRORS
    ceiling_kind: ClassVar[type[Test] | None] = None
    ceiling_metric: ClassVar[Metric | None] = None
    slice_grace_s: ClassVar[float | None] = None
    deployment: ClassVar[str] = ""
    files_unchanged: ClassVar[bool] = True
    opening_s: ClassVar[float] = 0.0
    counts_each: ClassVar[float] = 1.0
    knobs: ClassVar[tuple[tuple[str, str], ...]] = ()
    requests: ClassVar[tuple[Request, ...]] = ()
    waits_on_purpose: ClassVar[bool] = False
    rare: ClassVar[frozenset[str]] = frozenset({"sign_in"})

    KEYS: ClassVar[Keys] = {
        "kind": (Annotated[str, Meta(description="The kind of test. The default is the test's name.")], "")
    }

    name: Name = dataclasses.field(metadata={"key": None})
    pace: Pace = dataclasses.field(metadata={"key": None})
    engine: Annotated[str, Meta(description="The program that generates the load.")] = DEFAULT_ENGINE
    warmup_s: Annotated[
        float, Meta(ge=0, le=LONGEST_S, extra={"duration": True}, description="The duration of the warm-up load.")
    ] = 2.0
    services: Annotated[tuple[str, ...], Meta(description="Supporting services to run.")] = ()
    recipe: Annotated[str, Meta(description="The origin's recipe: a name or a file.")] = ""
    percentiles: Annotated[
        tuple[Literal["p50", "p95", "p99"], ...],
        Meta(description="The percentiles with verdicts. By default, the kind's own percentiles."),
    ] = ()
    answers: Annotated[
        tuple[Literal["open", "opened/1,000 requests", "left", "too many clients"], ...],
        Meta(description="Counts of database connections with which the report starts."),
    ] = ()
    sign_in: SignIn | None = dataclasses.field(default=None, metadata={"key": None})
    """The login of the load's users. It is None if the users don't log in."""

    def __post_init__(self) -> None:
        for key in self.percentiles:
            if not any(one.percentile for one in self._judged((key,))):
                raise ValueError(f"percentiles: tests of the kind {self.tag} have no verdicts for {key}")
        _ = self.search  # check the objective

    @classmethod
    def parse(cls, name: str, table: Mapping[str, Any], place: TablePlace) -> Test:
        """Create a test from a study's table.

        Raises:
            UserError: If the table isn't valid.
        """
        pace = chosen(cls.paces, table)
        try:
            keys = {**cls.keys(table), **pace.keys(table)}
            known = {key: (kind, cls.defaults.get(key, default)) for key, (kind, default) in keys.items()}
            values = fields.read(table, known, place)
            return cls(name=name, pace=pace(**pace.own(values, place)), **cls.own(values, place))
        except ValueError as error:
            raise place.error(str(error)) from None

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        recipe = values["recipe"]
        if "/" in recipe or recipe.endswith(".json"):
            recipe = str(place.inside("recipe", recipe))
        return super().own({**values, "recipe": recipe}, place)

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """Create a test from the values of ``record``.

        Raises:
            ValueError: If a value isn't valid.
            KeyError: If a value is missing.
            UserError: If a request isn't valid.
        """
        pace = chosen(cls.paces, values).from_record(values)
        return dataclasses.replace(msgspec.convert({**values, "pace": {}}, cls), pace=pace)

    def record(self) -> dict[str, Any]:
        """Return the fields of the test and its pace for run.json. The record also contains the test's requests."""
        found = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name != "pace" and (field.name not in self.rare or getattr(self, field.name) != field.default)
        }
        if self.sign_in is not None:
            found["sign_in"] = dataclasses.asdict(self.sign_in)
        sent = [request.to_dict() for request in self.requests]
        return {"kind": self.tag, **found, **self.pace.record(), "requests": sent}

    @property
    def kind(self) -> type[Test]:
        return type(self)

    @property
    @abstractmethod
    def subject(self) -> str:
        """A description of the sent requests or messages."""

    @property
    def content(self) -> tuple[object, ...]:
        """The values that must be equal to compare the contents of two loads: the fields of the kind, and the login."""
        common = {field.name for field in dataclasses.fields(Test)} - {"sign_in"}
        return tuple(value for name, value in vars(self).items() if name not in common)

    @property
    @abstractmethod
    def setup_features(self) -> frozenset[str]:
        """The features that a setup must support: HTTP, WEBSOCKET, or a word of ``loadtests.setups.CANNOT``."""

    @property
    def short_description(self) -> str:
        return f"{self.subject} (the origin plays {Path(self.recipe).stem})" if self.recipe else self.subject

    @property
    def exact_description(self) -> str:
        """The ``short_description`` with a digest of the requests, so that different tests have different texts."""
        sends = [[request.identity.to_dict() for request in self.requests], getattr(self.pace, "recorded", ())]
        if not any(sends):
            return self.short_description
        return f"{self.short_description} ({hashlib.sha256(json.dumps(sends).encode()).hexdigest()[:8]})"

    @property
    def description(self) -> str:
        return f"{self.short_description}{self.pace.phrase(self)}"

    @property
    def condition(self) -> str:
        """The conditions of the measured figures, such as ``at 300 requests/s``."""
        return self.pace.condition(self)

    def loop_condition(self, clients: int) -> str:
        """Describe the test conditions of a closed loop."""
        return f"with {plural(clients, 'connection')}"

    @property
    def comparison_key(self) -> tuple[object, ...]:
        """The values that must be equal to compare two tests of a kind. These values don't include the duration."""
        return (*self.pace.comparison_key, *self.content)

    def same_as(self, other: Test) -> bool:
        """Return whether the figures of both tests can be compared."""
        alike = self.kind is other.kind and self.engine == other.engine and self.recipe == other.recipe
        return alike and self.comparison_key == other.comparison_key

    @property
    def choices(self) -> tuple[Metric | Farthest, ...]:
        """The metrics that can have verdicts. ``percentiles`` selects from them."""
        return (self.pace.is_closed_loop and self.loop_verdicts) or self.verdicts or self.metrics

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics for which the report contains verdicts."""
        return self._judged(self.percentiles or tuple(PERCENTILES))

    def _judged(self, keys: tuple[str, ...]) -> tuple[Metric, ...]:
        shares = {PERCENTILES[key] for key in keys}
        found = (one.of(self, shares) if isinstance(one, Farthest) else one for one in self.choices)
        return tuple(dict.fromkeys(one for one in found if one.percentile is None or one.percentile in shares))

    @property
    def decisive(self) -> Metric:
        """The metric that ranks the setups."""
        if self.ranking is None or self.percentiles or (self.pace.is_closed_loop and self.loop_verdicts):
            return self.judged[0]
        return self.ranking.of(self) if isinstance(self.ranking, Farthest) else self.ranking

    @property
    def answering(self) -> tuple[TrialCount, ...]:
        """The counts at the top of the test's report, or an empty tuple if the report starts with metrics."""
        return tuple(one for one in held_connections.COUNTED if one.name in self.answers) or self.leading_counts

    @property
    def columns(self) -> dict[Metric, str]:
        """The metrics in the table of figures, with their headings."""
        return {metric: heading for metric, heading in self.table.items() if self.has_metric(metric)}

    def has_metric(self, metric: Metric) -> bool:
        """Return whether trials of the test have a metric."""
        of_unit = not metric.cost_units or self.cost_unit.plural in metric.cost_units
        return of_unit or metric in self.further_metrics

    def why_unknown(self, trial: Trial) -> str:
        """Return the reason why a valid trial lacks the decisive metric, or "" if the reason isn't known."""
        if self.search is None or self.decisive.read(trial) is not None:
            return ""
        return trial.capacity.sentence if trial.capacity else "no search was made"

    @property
    def samples(self) -> float:
        """The number of measured values in a trial with immediate answers, or infinity if it is unknown."""
        return float("inf") if self.pace.rate_found is None else int(self.pace.rate_found * self.pace.seconds)

    def requests_per_s(self, of_users: bool) -> float | None:
        """Return the request rate of users with immediate answers, or None if the rate isn't known.

        Args:
            of_users: True for the rate per user, False for the rate if one new user arrives per second.
        """
        return None

    @property
    def search(self) -> tuple[Objective, SearchPlan] | None:
        """The objective and the plan of the search for the highest rate, or None if the test isn't a search."""
        return self.pace.plan(self) if isinstance(self.pace, Search) else None

    @property
    def fixed_rate(self) -> float | None:
        """The rate per second that a setup must sustain, or None if the test has no such rate."""
        return None if self.failures_allowed >= 1 else self.pace.rate_found

    @property
    def allowed_failures(self) -> float:
        """The share of requests, from 0 to 1, that may fail without making the figures doubtful."""
        return self.failures_allowed if self.search is None else self.search[0].max_errors

    @property
    def load_step(self) -> LoadStep | None:
        """The test as a step of a load curve, or None if the test isn't a step."""
        step = self.pace.step if self.has_load_curve else None
        if step is None:
            return None
        return LoadStep(*step, (self.engine, self.recipe, getattr(self.pace, "arrivals", None), *self.content))

    @property
    def can_interleave(self) -> bool:
        """Whether the load can be split into slices that alternate with loads on other setups."""
        return self.in_slices and self.pace.in_slices and self.engine == DEFAULT_ENGINE

    @property
    def start_options(self) -> StartOptions:
        """The services and knobs with which a setup is started for the test."""
        return StartOptions(self.services, (*(((RECIPE_KNOB, self.recipe),) if self.recipe else ()), *self.knobs))

    @property
    def logins_s(self) -> float:
        """The approximate time in which all users of the load log in, one after the other."""
        return self.sign_in.users * LOGIN_S if self.sign_in and self.sign_in.login else 0.0

    @property
    def _who(self) -> str:
        """A description of the users who have logged in."""
        return f", {self.sign_in}" if self.sign_in else ""

    @property
    def planned_s(self) -> float:
        """The estimated seconds that a trial without slices takes, including the start of the setup and services."""
        left_s = database_times.planned_left_s(self.services, self.pace.seconds)
        load_s = self.pace.with_warmup_s(self.warmup_s) + self.opening_s + self.logins_s
        return START_S * (1 + len(self.services)) + load_s + left_s

    @property
    def planned_interleaved_s(self) -> float:
        """The estimated seconds of a trial in slices, without the start of the setup."""
        return self.warmup_s + slices.seconds(self.pace.seconds) + self.opening_s + self.logins_s

    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        """Create the load for a server.

        Args:
            origin: The address of the server, without a path.
            requests: The test's requests, adapted to this server.
            bodies: The expected bodies (see ``Load``).
            core: The core of the load generator.
            seed: The seed of random decisions, which is the same for all setups of a block.

        Raises:
            UserError: If the load isn't valid.
        """
        sent = {"origin": origin, "requests": tuple(requests), "bodies": tuple(bodies), "core": core}
        return self.load_of({**sent, "warmup_s": self.warmup_s, **self.pace.load(seed)})

    @abstractmethod
    def load_of(self, fields: dict[str, Any]) -> Load:
        """Create the load. ``fields`` contains the fields that don't depend on the kind of test."""

    @property
    def ceiling_pace(self) -> Pace:
        """The closed loop that finds the ceiling of a setup."""
        return ClosedLoop(duration_s=CEILING_S)

    @property
    def ceiling_test(self) -> Test | None:
        """The test that measures each setup's ceiling, or None if the rate isn't a share of the lowest ceiling."""
        if not isinstance(self.pace, ShareOfCeiling):
            return None
        changed = {
            "pace": self.ceiling_pace,
            "engine": DEFAULT_ENGINE,
            "warmup_s": min(self.warmup_s, CEILING_S),
            "percentiles": (),
            "answers": (),
        }
        return (self.ceiling_kind or self.kind)(**{**super().record(), **changed})

    def sustained_rate(self, trial: Trial) -> float | None:
        """Return the rate that a trial of ``ceiling_test`` sustained, in requests or messages sent per second.

        Returns:
            The rate, or None if it isn't known or too many requests failed.
        """
        if self.ceiling_metric is not None:
            rate = self.ceiling_metric.read(trial)
            return None if rate is None else rate / self.counts_each
        result = trial.result
        if result is None or sum(result.failed.values()) > MAX_ERRORS * result.planned:
            return None
        return result.rate

    def at_ceiling(self, ceiling: float) -> Test:
        """Return the test with a fixed rate, which is the test's share of ``ceiling`` (per second)."""
        assert isinstance(self.pace, ShareOfCeiling)
        return dataclasses.replace(self, pace=self.pace.of_ceiling(ceiling))

    def at_rate(self, rate: float) -> Test:
        return dataclasses.replace(self, pace=self.pace.at_rate(rate))

    def quick(self) -> Self:
        """Return the test with short times, for a first check that everything works."""
        return dataclasses.replace(self, pace=self.pace.quick(), warmup_s=min(QUICK_WARMUP_S, self.warmup_s))

    def with_requests(self, requests: tuple[Request, ...]) -> Test:
        """Return the test with other requests and without recorded times."""
        return self

    def with_bodies(self) -> Test:
        """Return the test with request bodies read from their files, because a run folder doesn't contain the bodies.

        Raises:
            UserError: If a file has changed.
        """
        return self

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Test:
        """Return the test with a login for its users and, if its users run a journey, with the journey in a file.

        Without a file, keep the journey.

        Raises:
            UserError: If the file can't be read or isn't valid.
        """
        return dataclasses.replace(self, sign_in=sign_in)


class Searching(Test):
    """The base class of kinds that search for the highest rate."""

    paces: ClassVar[tuple[type[Pace], ...]] = (RateSearch,)
    defaults: ClassVar[Mapping[str, Any]] = {"objective": "p99<50ms"}
    caption = "Capacity: {what}"
    optional: ClassVar[tuple[str, ...]] = ("trials", "probes")
