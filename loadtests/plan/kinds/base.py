"""What all kinds of test have in common."""

from __future__ import annotations

import abc
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from loadtests.plan import slices
from loadtests.plan.cost_unit import REQUESTS, CostUnit
from loadtests.plan.metrics import Metric
from loadtests.plan.objective import MAX_ERRORS, Objective, SearchPlan
from loadtests.records import Trial
from loadtests.records.bounds import Amount, Name
from loadtests.records.toml import TomlTable
from loadtests.workload import DEFAULT_ENGINE, Feature, Load, Request, SignIn

if TYPE_CHECKING:
    from typing_extensions import Self

# Start, health, contract and stop of a setup: what comes to warm-up and measurement. For the time left only.
START_S = 1.5
# What ``--quick`` leaves of the times of a test, in seconds.
QUICK = {"warmup_s": 1.0, "duration_s": 3.0, "probe_s": 1.0, "confirm_s": 3.0}
WARMUP_S = 2.0
RECIPE_KNOB = "ORIGIN_RECIPE"


@dataclasses.dataclass(frozen=True)
class LoadStep:
    """A test as one of several that ask the same at more and more load: how much (``at``), of what (``axis``), and both
    in words, ``250/s`` and ``250 requests/s``. Those that differ by nothing else have ``alike`` in common."""

    value: float
    axis: str
    short_label: str
    label: str
    comparison_key: tuple[object, ...]


@dataclasses.dataclass(frozen=True)
class StartOptions:
    """What a setup is started with for a test: the services beside it, and the knobs that these take of the test. Tests
    that have the same of it can share a server."""

    services: tuple[str, ...] = ()
    knobs: tuple[tuple[str, str], ...] = ()


NO_START_OPTIONS = StartOptions()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Test(abc.ABC):
    """What is asked of a setup. A kind of test is a subclass in a file of its own beside this one.

    The class says what its kind is: ``kind`` is its name, ``place`` its place in a report, ``metrics`` those that only
    it has, ``judged`` those that verdicts are given on (few: each one more widens all intervals) and ``decisive`` the
    one that cells of a sweep are ranked by. ``beside`` are those without which the judged ones are not to be shown.
    ``counted`` is what its cost is shared among, ``sends`` the word for one of what it sends, and ``time`` what its
    times are where the engine counts them from the intended send: of each that is ``timed``, one of those counted if
    nothing else is said. ``needs`` is what an engine must be able to do beside what its load takes.

    In a report it has a section: ``heading``, ``about``, and for each test a table, ``caption`` over ``columns``
    (a metric's name and its heading); the headings in ``optional`` are dropped, in this order, where room is little.
    ``{what}`` and ``{latency}`` in a caption stand for what is sent and for the time that is known (see
    ``loadtests.plan.metrics``).
    """

    __test__: ClassVar[bool] = False  # no test of ours, whatever pytest makes of the name

    kind: ClassVar[str]
    order: ClassVar[int]
    metrics: ClassVar[tuple[Metric, ...]] = ()
    judged: ClassVar[tuple[Metric, ...]]
    decisive: ClassVar[Metric]
    supporting_metrics: ClassVar[tuple[Metric, ...]] = ()
    cost_unit: ClassVar[CostUnit] = REQUESTS
    load_unit: ClassVar[str] = "request"
    time_name: ClassVar[str] = "response time"
    timed_unit: ClassVar[str] = ""
    engine_features: ClassVar[frozenset[Feature]] = frozenset()
    restarts: ClassVar[bool] = False
    """Whether the server is restarted under its load."""
    heading: ClassVar[str]
    about: ClassVar[str]
    caption: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    optional: ClassVar[tuple[str, ...]] = ()
    summarised_fields: ClassVar[tuple[str, ...]] = ("name", "requests")
    """Fields that are not told one by one where runs differ: ``asked_exactly`` tells of them."""

    name: Name
    engine: str = DEFAULT_ENGINE
    warmup_s: Amount = WARMUP_S
    requests: tuple[Request, ...] = ()
    """What every setup must answer alike before any load; a kind that sends no HTTP requests has none."""
    services: tuple[str, ...] = ()
    """What is to run beside the setup, by the names of supervisor/services."""
    recipe: str = ""
    """What the origin beside the setup plays, where the test says it: the name of one that ships, or a path."""

    @classmethod
    @abc.abstractmethod
    def parse(cls, name: str, table: TomlTable, folder: Path) -> Self:
        """The test in a study's table; paths in it start from ``folder``. Takes all keys it knows. Raises UserError."""

    @property
    @abc.abstractmethod
    def seconds(self) -> float:
        """About how long its load lasts."""

    @abc.abstractmethod
    def load(
        self, origin: str, requests: Sequence[Request], bodies: Sequence[bytes | None], core: int | None, seed: int = 0
    ) -> Load:
        """The load on a server at ``origin`` (an address without a path), made on ``core``.

        ``requests`` are its own as the server is to be asked them, ``bodies`` what they should be answered with (see
        Load). ``seed`` decides what is left to chance; in a block all setups get the same. Raises UserError.
        """

    @property
    @abc.abstractmethod
    def comparison_key(self) -> tuple[object, ...]:
        """What makes two tests of the kind ask the same; how long they last does not."""

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What it sends, in words."""

    @property
    @abc.abstractmethod
    def short_description(self) -> str:
        """What it asks for, without how often."""

    @property
    @abc.abstractmethod
    def condition(self) -> str:
        """Under which condition its figures hold: ``at 300 requests/s``."""

    @property
    @abc.abstractmethod
    def length(self) -> str:
        """How long it measures, in words."""

    @property
    def start_options(self) -> StartOptions:
        """What its setups are started with."""
        return StartOptions(self.services, ((RECIPE_KNOB, self.recipe),) if self.recipe else ())

    @property
    def exact_description(self) -> str:
        """``asked``, with a digest of what it leaves unsaid: two that are not alike read differently."""
        return self.short_description

    @property
    def files_unchanged(self) -> bool:
        """Whether the files that it uses are what they were when it was read from its study."""
        return True

    def why_unknown(self, trial: Trial) -> str:
        """Why a valid trial does not know the decisive metric, where the kind can tell; else empty."""
        return ""

    @property
    def search(self) -> tuple[Objective, SearchPlan] | None:
        """Within what the rate of its load is searched for, and how; None where the load is as it is."""
        return None

    @property
    def closed_loop(self) -> bool:
        """Whether its load asks as fast as it is answered: a generator at its end hides how much more can be done."""
        return False

    @property
    def load_step(self) -> LoadStep | None:
        """What it is as one of several steps of load; None where it is none."""
        return None

    @property
    def needs_memory_at_rest(self) -> bool:
        """Whether its figures need the memory that the processes have before there is any load."""
        return False

    @property
    def can_interleave(self) -> bool:
        """Whether its load can be made in slices, so that setups can be measured by turns."""
        return False

    @property
    def ceiling_test(self) -> Test | None:
        """The test that finds what each setup holds, where the rate of this one is to be a share of the least of that
        and is not known yet; else None."""
        return None

    def sustained_rate(self, trial: Trial) -> float | None:
        """What a trial says that its setup holds, in what is sent per second, where it is asked for all that it can;
        None where that is not known, or too much failed."""
        result = trial.result
        if result is None or sum(result.failed.values()) > MAX_ERRORS * result.planned:
            return None
        return result.rate

    def at_rate(self, rate: float) -> Self:
        """The test at another fixed rate; as it is where it has none of its own choice."""
        return self

    def at_ceiling(self, ceiling: float) -> Self:
        """The test whose rate is its share of ``ceiling`` (requests per second)."""
        raise NotImplementedError(self.kind)

    @property
    def fixed_rate(self) -> float | None:
        """The requests (or whatever it ``sends``) per second that a setup is to hold; None where none are asked for, or
        the rate is searched."""
        return None

    @property
    def allowed_failures(self) -> float:
        """The share of its requests, 0 to 1, that may fail without any doubt about its figures."""
        return MAX_ERRORS if self.search is None else self.search[0].max_errors

    def has_metric(self, metric: Metric) -> bool:
        """Whether its trials have a metric: one that is not of something else than it counts."""
        return not metric.cost_units or self.cost_unit.plural in metric.cost_units

    @property
    def setup_features(self) -> frozenset[str]:
        """What a setup must be able to do, in words of ``loadtests.setups.CANNOT``; HTTP and WEBSOCKET are others."""
        return frozenset()

    @property
    def planned_s(self) -> float:
        """About how long a trial takes that is made in one piece, with the start of its setup."""
        return START_S + self.warmup_s + self.seconds

    @property
    def planned_interleaved_s(self) -> float:
        """About how long it takes in slices, without the start."""
        return self.warmup_s + slices.seconds(self.seconds)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        """The test with other requests; as it is where its kind sends none."""
        return self

    def with_processes(self, injectors: int) -> Self:
        """The test with its load made by so many processes; as it is where that is not its choice."""
        return self

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        """The test with its users on the journey in a file (its own where there is none), signing in so; as it is where
        it has no users. Raises UserError."""
        return self

    def quick(self) -> Self:
        """The test with short times: a first look at whether all works."""
        shorter = {key: min(limit, getattr(self, key)) for key, limit in QUICK.items() if hasattr(self, key)}
        return dataclasses.replace(self, **shorter)

    def same_as(self, other: Test) -> bool:
        """Whether both ask the same, so that their figures can be set side by side."""
        alike = self.engine == other.engine and self.recipe == other.recipe
        return type(self) is type(other) and alike and self.comparison_key == other.comparison_key

    def record(self) -> dict[str, Any]:
        """The test as run.json keeps it."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"kind": self.kind, **fields, "requests": [request.to_dict() for request in self.requests]}

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        """The test that ``record`` gave, without its kind. Raises ValueError, KeyError or UserError for another."""
        requests = tuple(Request.from_dict(request) for request in values["requests"])
        return dataclasses.replace(msgspec.convert({**values, "requests": []}, cls), requests=requests)


def common(name: str, table: TomlTable, engine: str = DEFAULT_ENGINE, warmup_s: float = WARMUP_S) -> dict[str, Any]:
    """The fields that all kinds have, from a study's table; ``engine`` and ``warmup_s`` are those of a test that says
    none."""
    return {
        "name": name,
        "engine": table.take("engine", str, engine),
        "warmup_s": table.seconds("warmup", warmup_s, least_s=0.0),
        "services": table.texts("services"),
        "recipe": table.take("recipe", str, ""),
    }


def digest(sends: Sequence[object]) -> str:
    """A few letters that differ where what is sent does."""
    return hashlib.sha256(json.dumps(sends).encode()).hexdigest()[:8]
