"""Define a test, which is a work at a pace. The kind of a test defines its texts and metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, final

import msgspec
from msgspec import Meta

from loadtests.plan import database_times, fields, held_connections, slices
from loadtests.plan.kinds.kind import WARMUP_S, Answers, Kind, Percentiles, metric_in
from loadtests.plan.kinds.pace import Pace, ShareOfCeiling
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.work import Work
from loadtests.plan.load_step import LoadStep
from loadtests.plan.metrics import Metric
from loadtests.plan.objective import MAX_ERRORS, Objective, SearchPlan
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.bounds import Amount, Name
from loadtests.workload import DEFAULT_ENGINE, Load, Request, SignIn

START_S = 1.5  # The time to start, check and stop a setup, used only to estimate the remaining time.
QUICK_WARMUP_S = 1.0  # The warm-up with --quick.
CEILING_S = 1.0  # The duration of a search for the ceiling.
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


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Test:
    """A test of setups: a work at a pace."""

    __test__ = False  # pytest must not collect this class

    name: Name
    kind: Annotated[Kind, Meta(extra_json_schema={"type": "string"})]
    work: Work
    pace: Pace
    engine: str = DEFAULT_ENGINE
    warmup_s: Amount = WARMUP_S
    services: tuple[str, ...] = ()
    """The names of supporting services in supervisor/services."""
    recipe: str = ""
    """The origin's recipe: the name of an included recipe, or a path."""
    percentiles: Percentiles = ()
    answers: Answers = ()

    def __post_init__(self) -> None:
        for key in self.percentiles:
            if not any(one.percentile for one in self.kind.judged_in(self, (key,))):
                raise ValueError(f"percentiles: {key} has no verdicts in tests of the kind {self.kind}")
        if self.search is not None:
            self.search[1].require_knowable()

    @property
    def requests(self) -> tuple[Request, ...]:
        return self.work.all_requests

    @property
    def waits(self) -> bool:
        return self.work.waits_on_purpose

    @property
    def short_description(self) -> str:
        sent = self.work.subject(self.pace)
        return f"{sent} (the origin plays {Path(self.recipe).stem})" if self.recipe else sent

    @property
    def exact_description(self) -> str:
        """The ``short_description`` with digests of omitted parts, so that different tests have different texts."""
        digests = [one for one in (self.work.fingerprint, self.pace.fingerprint) if one]
        return f"{self.short_description} ({', '.join(digests)})" if digests else self.short_description

    @property
    def description(self) -> str:
        return self.work.describe(self.short_description, self.pace, self.kind.load_unit)

    @property
    def condition(self) -> str:
        """The conditions under which figures are measured, such as ``at 300 requests/s``."""
        return self.pace.condition(self.work, self.kind.load_unit)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        """The values that must be equal to compare two tests of a kind. These values don't include the duration."""
        return (*self.pace.comparison_key, *self.work.comparison_key)

    def same_as(self, other: Test) -> bool:
        """Return whether the figures of both tests can be compared."""
        alike = self.kind is other.kind and self.engine == other.engine and self.recipe == other.recipe
        return alike and self.comparison_key == other.comparison_key

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics for which the report contains verdicts."""
        return self.kind.judged_in(self, self.percentiles)

    @property
    def answering(self) -> tuple[TrialCount, ...]:
        """The counts at the top of the test's report, or an empty tuple if the report starts with metrics."""
        return tuple(one for one in held_connections.COUNTED if one.name in self.answers) or self.kind.answers

    @property
    def decisive(self) -> Metric:
        """The metric that ranks the setups."""
        if self.kind.decisive is None or self.percentiles or (self.pace.is_closed_loop and self.kind.loop_judged):
            return self.judged[0]
        return metric_in(self, self.kind.decisive)

    @property
    def columns(self) -> dict[Metric, str]:
        """The metrics in the table of figures, with their headings."""
        return {metric: heading for metric, heading in self.kind.columns.items() if self.has_metric(metric)}

    def has_metric(self, metric: Metric) -> bool:
        """Return whether trials of the test have a metric."""
        of_unit = not metric.cost_units or self.kind.cost_unit.plural in metric.cost_units
        return (of_unit and self.kind.has_metric(self, metric)) or metric in self.kind.further_metrics

    def why_unknown(self, trial: Trial) -> str:
        """Return the reason why a valid trial lacks the decisive metric, or "" if the reason isn't known."""
        if (self.kind.why_unknown is None and self.search is None) or self.decisive.read(trial) is not None:
            return ""
        if self.kind.why_unknown is not None:
            return self.kind.why_unknown(trial)
        return trial.capacity.sentence if trial.capacity else "no search was made"

    @property
    def search(self) -> tuple[Objective, SearchPlan] | None:
        """The objective and the plan of the search for the highest rate, or None if the test isn't a search."""
        if not isinstance(self.pace, Search):
            return None
        counts = self.kind.cost_unit.plural
        return self.pace.plan(self.work, counts, self.pace.unit or f"{counts}/s")

    @property
    def fixed_rate(self) -> float | None:
        """The rate per second that a setup must sustain, or None if the test has no such rate."""
        return None if self.kind.allowed_failures >= 1 else self.pace.rate_found

    @property
    def allowed_failures(self) -> float:
        """The share of requests, from 0 to 1, that may fail without making the figures doubtful."""
        return self.kind.allowed_failures if self.search is None else self.search[0].max_errors

    @property
    def load_step(self) -> LoadStep | None:
        """The test as a step of a load curve, or None if the test isn't a step."""
        step = self.pace.step if self.work.has_load_curve else None
        if step is None:
            return None
        alike = (self.engine, self.recipe, getattr(self.pace, "arrivals", None), *self.work.comparison_key)
        return LoadStep(*step, alike)

    @property
    def can_interleave(self) -> bool:
        """Whether the load can be split into slices that alternate with loads on other setups."""
        able = self.work.can_interleave and self.pace.can_interleave
        return able and not self.kind.in_one_piece and self.engine == DEFAULT_ENGINE

    @property
    def needs_memory_at_rest(self) -> bool:
        return self.work.needs_memory_at_rest(self.services)

    @property
    def start_options(self) -> StartOptions:
        """The services and knobs with which a setup is started for the test."""
        return StartOptions(self.services, (*(((RECIPE_KNOB, self.recipe),) if self.recipe else ()), *self.work.knobs))

    @property
    def planned_s(self) -> float:
        """The estimated seconds that a trial without slices takes, including the start of the setup and services."""
        more_s = self.work.opening_s + self.work.logins_s
        left_s = database_times.planned_left_s(self.services, self.pace.seconds)
        return START_S * (1 + len(self.services)) + self.pace.with_warmup_s(self.warmup_s) + more_s + left_s

    @property
    def planned_interleaved_s(self) -> float:
        """The estimated seconds of a trial in slices, without the start of the setup."""
        return self.warmup_s + slices.seconds(self.pace.seconds) + self.work.opening_s + self.work.logins_s

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
        return self.work.load(self.pace, {**sent, "warmup_s": self.warmup_s, **self.pace.load(seed)})

    @property
    def ceiling_test(self) -> Test | None:
        """The test that measures each setup's ceiling, or None if the rate isn't a share of the lowest ceiling."""
        if not isinstance(self.pace, ShareOfCeiling):
            return None
        work, pace = self.work.ceiling(CEILING_S)
        return Test(
            name=self.name,
            kind=self.kind.ceiling or self.kind,
            work=work,
            pace=pace,
            warmup_s=min(self.warmup_s, CEILING_S),
            services=self.services,
            recipe=self.recipe,
        )

    def sustained_rate(self, trial: Trial) -> float | None:
        """Return the rate that a trial of ``ceiling_test`` sustained, in requests or messages sent per second.

        Returns:
            The rate, or None if it isn't known or too many requests failed.
        """
        if self.kind.ceiling_metric is not None:
            rate = self.kind.ceiling_metric.read(trial)
            return None if rate is None else rate / self.work.counts_each
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

    def quick(self) -> Test:
        """Return the test with short times, for a first check that everything works."""
        pace = self.pace if self.kind.in_one_piece else self.pace.quick()
        warmup_s = min(QUICK_WARMUP_S, self.warmup_s)
        return dataclasses.replace(self, work=self.work.quick(), pace=pace, warmup_s=warmup_s)

    def with_requests(self, requests: tuple[Request, ...]) -> Test:
        return dataclasses.replace(self, work=self.work.with_requests(requests), pace=self.pace.unrecorded())

    def with_processes(self, processes: int) -> Test:
        return dataclasses.replace(self, work=self.work.with_processes(processes))

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Test:
        """Return the test with another journey or login for its users. A test without users isn't changed.

        Args:
            file: The file of the journey. None keeps the test's journey.
            sign_in: The way to log in, if any.

        Raises:
            UserError: If the file can't be read or isn't valid.
        """
        return dataclasses.replace(self, work=self.work.with_journey(file, sign_in))

    def record(self) -> dict[str, Any]:
        common = {name: getattr(self, name) for name in _Common.__struct_fields__}
        sent = {"requests": [request.to_dict() for request in self.requests]}
        return {"kind": self.kind.name, **common, **sent, **self.pace.record(), **self.work.record()}

    @classmethod
    def from_record(cls, kind: Kind, values: Mapping[str, Any]) -> Test:
        """Create a test from the values of ``record``.

        Raises:
            ValueError: If a value isn't valid.
            KeyError: If a value is missing.
            UserError: If a request isn't valid.
        """
        common = msgspec.structs.asdict(msgspec.convert(values, _Common))
        pace = fields.chosen(kind.paces, values).from_record(values)
        return cls(kind=kind, work=kind.work.from_record(values), pace=pace, **common)


class _Common(msgspec.Struct):
    """The fields in the records of all tests."""

    name: Name
    engine: str
    warmup_s: Amount
    services: tuple[str, ...]
    recipe: str = ""
    percentiles: Percentiles = ()
    answers: Answers = ()
