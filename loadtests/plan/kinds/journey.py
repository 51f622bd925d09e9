"""Define tests with users' journeys.

The tests measure response times, the share of completed journeys, or the most users within an objective.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from loadtests import files, journeys
from loadtests.errors import UserError, quoted, unknown
from loadtests.plan.cost_unit import CPU, JOURNEYS
from loadtests.plan.fields import Keys, TablePlace
from loadtests.plan.kinds.base import Farthest, Searching, Test
from loadtests.plan.kinds.user_pace import NewUsers, UserLoop, UserSearch
from loadtests.plan.metrics import P50, P95, P99, Metric, capacity_of
from loadtests.plan.times import ANSWERS, of_method
from loadtests.records import Trial
from loadtests.records.bounds import Amount
from loadtests.records.decode import Duration
from loadtests.setups import HTTP
from loadtests.workload import Load, Request, SignIn, Users
from loadtests.workload.load import MAX_PROCESSES
from loadtests.workload.request import PATH

if TYPE_CHECKING:
    from typing import Self

# The time of one journey and the think time after it. The first user starts again when the last user arrives, so that
# journeys end evenly over time. After a shorter ramp, many journeys would end at the same time, and the number of
# journeys in the measured time would depend on chance.
RAMP_S = 13.0
DEFAULT_JOURNEY = "questionnaire"
REQUESTS, THINKS = 18.5, 7.75  # Averages of the questionnaire. Three in four users get the page about their employer.
MAX_BYTES = 10_000_000  # The maximum size of a journey's file.
QUICKER = 20.0  # Think times in a quick test are shorter by this factor, so that some users finish.


def _method(method: str, key: str) -> Metric:
    def read(trial: Trial) -> float | None:
        if trial.result is None or (trial.valid and ANSWERS.too_late(trial.result, key)):
            return None
        return of_method(trial.result, method, key)

    return Metric(f"{method.lower()}_{key}_ms", f"{method}, response time {key}", "ms", read, short=f"{method} {key}")


def _per_minute(trial: Trial) -> float | None:
    if trial.result is None or trial.result.journeys is None or not trial.result.duration_s:
        return None
    return trial.result.journeys.completed * 60 / trial.result.duration_s


def _completed(trial: Trial) -> float | None:
    found = trial.result.journeys if trial.result else None
    ended = found.completed + found.broken_off if found else 0
    return found.completed * 100 / ended if found and ended else None


GET_P50, GET_P99, POST_P50, POST_P99 = (_method(method, key) for method in ("GET", "POST") for key in ("p50", "p99"))
PER_MINUTE = Metric("journeys_per_minute", "journeys per minute", "", _per_minute, more_is_better=True)
COMPLETED = Metric("journeys_completed_percent", "journeys completed", "%", _completed, more_is_better=True)


CAPACITY_USERS = capacity_of("capacity_users", "users", "users")
CAPACITY_ARRIVALS = capacity_of("capacity_users_per_s", "users", "new users/s")


@dataclasses.dataclass(frozen=True, kw_only=True)
class JourneyTest(Test):
    """Run a journey with simulated users.

    Args:
        journey: The name of a journey in ``loadtests.journeys``, or a file with a journey.
        file_digest: The digest of the journey's file.
        path: The path of the application's first page.
        think_s: The shortest and the longest think time in seconds.
        injectors: The number of processes that share the users.
    """

    order = 4
    in_slices = False
    has_load_curve = True
    logins_s = 0.0  # because users log in during the load
    setup_features = frozenset({HTTP})

    journey: Annotated[str, Meta(description="The name of an included journey, or a journey's file.")] = DEFAULT_JOURNEY
    file_digest: str | None = dataclasses.field(default=None, metadata={"key": None})
    path: str = dataclasses.field(metadata={"key": None})
    think_s: tuple[Amount, Amount] = dataclasses.field(metadata={"key": None})
    injectors: Annotated[int, Meta(ge=1, le=MAX_PROCESSES, description="Number of processes that share the users.")] = 1

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        path = Annotated[str, Meta(description="The path of the application. By default, the journey's path.")]
        think = Annotated[
            list[Duration] | Duration, Meta(description="The think time of users: one duration, or a list of two.")
        ]
        return {**super().keys(values), "path": (path | None, None), "think": (think, (1.0, 2.0))}

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        journey = _journey(values["journey"], place)
        path = path_of(_file(journey)) if values["path"] is None else values["path"]
        end = "/" if journey == DEFAULT_JOURNEY else ""  # the questionnaire adds the names of its pages
        if not PATH.fullmatch(path) or not path.endswith(end):
            raise ValueError(f"path: must be the path of the application, such as /shop{end}, not {path!r}")
        think = values["think"]
        ends = [think, think] if isinstance(think, float) else think
        if len(ends) != 2 or ends[0] > ends[1]:
            raise ValueError("think: must be one duration or two, the shorter time first, such as ['1s', '2s']")
        found = super().own(values, place)
        return {
            **found,
            "journey": journey,
            "file_digest": digest_of(journey),
            "path": path,
            "think_s": (ends[0], ends[1]),
        }

    @property
    def requests(self) -> tuple[Request, ...]:  # type: ignore[override]
        return (first(self.journey, self.path),)

    @property
    def files_unchanged(self) -> bool:  # type: ignore[override]
        return self.file_digest == digest_of(self.journey)

    @property
    def content(self) -> tuple[object, ...]:
        # The same file in another folder is the same journey.
        return (Path(self.journey).stem, self.file_digest, self.path, self.think_s, self.sign_in)

    @property
    def subject(self) -> str:
        return f"the journey {Path(self.journey).stem} at {self.path}{self._who}"

    @property
    def exact_description(self) -> str:
        return f"{self.short_description} ({self.file_digest})" if self.file_digest else self.short_description

    @property
    def description(self) -> str:
        least, most = self.think_s
        thinking = f"thinking for {least:g} s" if least == most else f"thinking for {least:g} to {most:g} s"
        return f"{super().description}, {thinking}"

    def load_of(self, fields: dict[str, Any]) -> Load:
        who = {key: fields.pop(key) for key in ("users", "arrivals") if key in fields}
        users = Users(str(_file(self.journey)), self.path, self.think_s, sign_in=self.sign_in, **who)
        shared = {"connections": max(users.users or 1, self.injectors), "processes": self.injectors}
        return Load(**{**fields, **shared, "bodies": (), "users": users})

    def requests_per_s(self, of_users: bool) -> float | None:
        if self.journey != DEFAULT_JOURNEY:
            return None
        if not of_users:
            return REQUESTS
        cycle_s = (THINKS + 1) * fmean(self.think_s)
        return REQUESTS / cycle_s if cycle_s else None

    @property
    def samples(self) -> float:
        pace = self.pace
        if not isinstance(pace, (UserLoop, NewUsers)):
            return math.inf
        each = self.requests_per_s(of_users=isinstance(pace, UserLoop))
        many = pace.users if isinstance(pace, UserLoop) else pace.rate
        return math.inf if each is None else each * many * pace.duration_s

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        found = dataclasses.replace(self, sign_in=sign_in)
        if file is None:
            return found
        journey = str(file.resolve())
        return dataclasses.replace(found, journey=journey, file_digest=digest_of(journey), path=path_of(file))

    def quick(self) -> Self:
        least, most = self.think_s
        return dataclasses.replace(super().quick(), think_s=(least / QUICKER, most / QUICKER))


class UserJourneys(JourneyTest):
    tag = "journey"
    paces = (UserLoop, NewUsers)
    defaults = {"engine": "locust", "warmup": RAMP_S}
    metrics = (GET_P50, GET_P99, POST_P50, POST_P99, PER_MINUTE, COMPLETED)
    verdicts = (P50, Farthest((P99, P95)), JOURNEYS.cpu)
    ranking = P99
    cost_unit = JOURNEYS
    further_metrics = (CPU,)
    timed_unit = "request"
    heading = "Users' journeys"
    about = (
        "Users walk through the application step by step, and pause in between. Response time starts when a user "
        "is ready, and covers all requests of all users. The tables below separate GET and POST. If a fixed "
        "number of users repeats the journey, the request rate follows from their number, their pauses and the "
        "response time. This rate isn't a capacity, because a slow server gets fewer requests. If new users arrive "
        "at a rate, they arrive even if answers are slow. Percentiles are means over trials."
    )
    caption = "{latency}, ms, and journeys: {what}"
    table = {
        P50: "p50",
        P99: "p99",
        GET_P99: "GET p99",
        POST_P99: "POST p99",
        PER_MINUTE: "journeys/min",
        COMPLETED: "completed, %",
        JOURNEYS.cpu: "CPU ms/journey",
        CPU: "CPU ms/request",  # this value is known even if a test is too short for complete journeys
    }
    optional = ("CPU ms/request", "GET p99", "trials")


class JourneyCapacity(Searching, JourneyTest):
    tag = "journey-capacity"
    paces = (UserSearch,)
    defaults = {
        "engine": "locust",
        "warmup": RAMP_S,
        "objective": "p99<500ms, failures<0.1%",
        "start_rate": 10.0,
        "max_rate": 1000.0,
        "probe": 10.0,
    }
    metrics = (CAPACITY_USERS, CAPACITY_ARRIVALS)
    heading = "Capacity in users"
    about = (
        "The most users, or the highest rate of new users, with which a long probe is within the objective for "
        "response times (from the moment a user is ready) and failures, without a growing number of outstanding "
        "requests. A number of users isn't a capacity in requests, because the request rate depends on their "
        "pauses (see the table of Little's law). If something other than the server ended a search, the capacity "
        "is a lower bound."
    )
    table = {metric: metric.label for metric in (CAPACITY_USERS, CAPACITY_ARRIVALS)}

    @property
    def choices(self) -> tuple[Metric, ...]:
        return (CAPACITY_USERS if isinstance(self.pace, UserSearch) and self.pace.of_users else CAPACITY_ARRIVALS,)

    def has_metric(self, metric: Metric) -> bool:
        return metric in self.choices or super().has_metric(metric)


def _file(journey: str) -> Path:
    return journeys.known().get(journey, Path(journey))


def _journey(text: str, place: TablePlace) -> str:
    """Return the name of an included journey, or the path of a file with a journey.

    Raises:
        UserError: If the study's folder contains no such file.
    """
    if text in journeys.known():
        return text
    if not text.endswith(".py"):
        raise ValueError(f"journey: {unknown('journey', text, journeys.known())} Or name a file, such as mine.py")
    return str(place.inside("journey", text))


def path_of(file: Path) -> str:
    """Return the path of the application for which a journey's file was written.

    This is the class attribute ``path = "/shop/"`` in the file, or else ``/``. The file isn't executed.

    Raises:
        UserError: If the path isn't valid, or the file can't be read.
    """
    try:
        text = files.read(file, MAX_BYTES).decode(errors="replace")
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    found = re.search(r"""^[ \t]+path = (["'])(.*)\1""", text, re.MULTILINE)
    path = found[2] if found else "/"
    if not PATH.fullmatch(path):
        raise UserError(f"{file}: path = {quoted(path)}: must be the path of the application, such as /shop")
    return path


def digest_of(journey: str) -> str | None:
    """Return a short digest of the content of a journey's file.

    Returns:
        The digest, or None for an included journey or a missing file.
    """
    if journey in journeys.known() or not (file := Path(journey)).is_file():
        return None
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


def first(journey: str, path: str) -> Request:
    """Return the request that all setups must answer in the same way before the first user arrives."""
    if journey == DEFAULT_JOURNEY:
        return Request(f"GET {path}launch/", path=f"{path}launch/", status=302)
    return Request(f"GET {path}", path=path)
