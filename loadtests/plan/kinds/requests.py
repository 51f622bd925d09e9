"""Define tests that send HTTP requests, either one request or a mix.

The tests measure latency, throughput, capacity, or the recovery from a failing origin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.plan.cost_unit import CPU
from loadtests.plan.fields import NEEDED, Keys, TablePlace
from loadtests.plan.kinds.base import CEILING_CONNECTIONS, CEILING_S, QUICK_WARMUP_S, Farthest, Searching, Test
from loadtests.plan.kinds.pace import ClosedLoopOver, FixedRate, Pace, RecordedPace, ShareOfCeiling
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric, capacity_of, rate_of
from loadtests.plan.recovery_time import FOR_SECONDS, TIME_SLACK, course
from loadtests.records import Trial
from loadtests.setups import HTTP
from loadtests.setups.fetching import fetches
from loadtests.workload import Load, Request, Workload, from_toml
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.from_toml import MixedRequestTable, RequestTable

if TYPE_CHECKING:
    from typing import Self

_MIX: Keys = {"requests": (Annotated[list[MixedRequestTable], Meta(min_length=1, description="A mix.")], NEEDED)}
_WAITING_PATHS = (
    "/wait",
    "/async/wait",
)  # paths of the sample project's views that wait, in addition to views that fetch
_FILE: Keys = {"workload": (Annotated[str, Meta(description="A workload file.")], NEEDED)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequestsTest(Test):
    """The base class of tests that send one request or a mix of requests."""

    has_load_curve = True

    requests: tuple[Request, ...] = dataclasses.field(metadata={"key": None})  # type: ignore[misc]

    def __post_init__(self) -> None:
        Workload(self.requests)
        if any(index >= len(self.requests) for _, index in getattr(self.pace, "recorded", ())):
            raise ValueError("recorded: refers to a request that doesn't exist")
        super().__post_init__()

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        if "requests" in values and "workload" in values:
            raise ValueError("requests: can't be combined with workload. Leave one out")
        of_one: Keys = {
            field.name: (field.type, field.default if field.default_factory is msgspec.NODEFAULT else {})
            for field in msgspec.structs.fields(RequestTable)
        }
        return {**super().keys(values), **(_MIX if "requests" in values else _FILE if "workload" in values else of_one)}

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        return {**super().own(values, place), "requests": workload_of(values, place).requests}

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        requests = tuple(Request.from_dict(request) for request in values["requests"])
        return super().from_record({**values, "requests": requests})

    @property
    def waits_on_purpose(self) -> bool:  # type: ignore[override]
        paths = [request.path.partition("?")[0] for request in self.requests]
        return any(path in _WAITING_PATHS or fetches(path) for path in paths)

    @property
    def content(self) -> tuple[object, ...]:
        return (tuple(request.identity for request in self.requests), self.sign_in)

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP, *("head" for request in self.requests if request.method == "HEAD")})

    def load_of(self, fields: dict[str, Any]) -> Load:
        return Load(**fields)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        return dataclasses.replace(self, requests=requests, pace=self.pace.unrecorded())

    def with_bodies(self) -> Self:
        return dataclasses.replace(self, requests=tuple(request.with_body() for request in self.requests))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConnectedTest(RequestsTest):
    """The base class of tests whose clients connect in a way that the study chooses."""

    rare = Test.rare | {"protocol", "clients", "resumption", "silent"}

    protocol: Annotated[Literal["http", "http2"], Meta(description="HTTP/1.1, or HTTP/2 over one connection.")] = "http"
    clients: Annotated[
        Literal["keep-alive", "closing"],
        Meta(description="Whether clients keep connections, or open a new connection for each request."),
    ] = "keep-alive"
    resumption: Annotated[bool, Meta(description="Whether a new connection resumes a TLS session if possible.")] = True
    silent: Annotated[
        int, Meta(ge=0, le=MAX_CONNECTIONS, description="The number of additional connections that send nothing.")
    ] = 0

    def __post_init__(self) -> None:
        if self.clients == "closing":
            closing = tuple(dataclasses.replace(request, closes=True) for request in self.requests)
            object.__setattr__(self, "requests", closing)
        super().__post_init__()

    @property
    def content(self) -> tuple[object, ...]:
        return (*super().content, self.protocol, self.resumption, self.silent)

    @property
    def setup_features(self) -> frozenset[str]:
        return super().setup_features | {self.protocol}

    @property
    def subject(self) -> str:
        if isinstance(self.pace, RecordedPace):
            sent = f"a recording of {plural(len(self.pace.recorded), 'request')}"
        elif len(self.requests) > 1:
            sent = f"a mix of {plural(len(self.requests), 'request')}"
        else:
            sent = f"{self.requests[0].method} {self.requests[0].path}"
        silent = f", next to {plural(self.silent, 'silent connection')}" if self.silent else ""
        return f"{sent}{' over HTTP/2' if self.protocol == 'http2' else ''}{self._who}{self._connecting}{silent}"

    @property
    def _connecting(self) -> str:
        if self.clients == "keep-alive":
            return "" if self.resumption else ", TLS sessions not resumed"
        return f", each over a new connection{'' if self.resumption else ' with a full TLS handshake'}"

    def load_of(self, fields: dict[str, Any]) -> Load:
        return Load(**fields, protocol=self.protocol, resumption=self.resumption, silent=self.silent)

    def loop_condition(self, clients: int) -> str:
        if self.protocol == "http2" and self.clients == "keep-alive":
            return f"with {plural(clients, 'request')} at once over one connection"
        return super().loop_condition(clients)

    @property
    def ceiling_pace(self) -> Pace:
        return ClosedLoopOver(connections=CEILING_CONNECTIONS, duration_s=CEILING_S)


def workload_of(values: Mapping[str, Any], place: TablePlace) -> Workload:
    """Return the workload of a test's table: one request, a mix, or a workload file.

    Raises:
        UserError: If the requests aren't valid.
    """
    if "requests" in values:
        return from_toml.workload(values["requests"], place.file, place.prefix, place.folder)
    if "workload" in values:
        return from_toml.read(place.inside("workload", values["workload"]))
    fields = {field.name: values[field.name] for field in msgspec.structs.fields(RequestTable)}
    try:
        return Workload((RequestTable(**fields).request(place.folder),))
    except UserError as error:
        raise place.error(str(error)) from None


def named(paths: Sequence[str], file: Path | None) -> tuple[Request, ...]:
    """Return the requests from paths or a workload file on the command line, or an empty tuple.

    Raises:
        UserError: If the command line contains both paths and a file, or the requests aren't valid.
    """
    if paths and file:
        raise UserError("--path and --workload can't be combined. Leave one out")
    if file:
        return from_toml.read(file).requests
    try:
        return Workload(tuple(Request(f"GET {path}", path=path) for path in paths)).requests if paths else ()
    except UserError as error:
        raise UserError(f"--path: {str(error).removeprefix('path: ')}") from None


RPS = rate_of("rps", "throughput", "requests", "answers the most")
CAPACITY = capacity_of("capacity_rps", "requests")


class Throughput(ConnectedTest):
    tag = "throughput"
    order = 2
    paces = (ClosedLoopOver,)
    defaults = {"connections": 10}
    metrics = (RPS,)
    verdicts = (RPS, CPU)
    heading = "Throughput over time"
    about = (
        "Successful requests per second. In a closed loop, each connection waits for its answer before it sends the "
        "next request, so a slow server gets fewer requests. Read the response times of such a test as part of its "
        "throughput."
    )
    caption = "Throughput: {what}"
    table = {RPS: "requests/s", P50: "p50, ms", P99: "p99, ms"}
    optional = ("p50, ms", "trials")


class Latency(ConnectedTest):
    tag = "latency"
    order = 1
    paces = (RecordedPace, ShareOfCeiling, FixedRate)
    ceiling_kind = Throughput
    verdicts = (P50, Farthest((P99, P95)), CPU)
    ranking = P99
    heading = "Latency"
    about = (
        "Response time starts when a request should have been sent, so delays of the generator and the server "
        "count. Service time, which some engines measure instead, starts when the request was sent. Percentiles "
        "are means over trials."
    )
    caption = "{latency}, ms: {what}"
    table = {metric: metric.short for metric in TIMES}
    optional = ("p95", "p90", "p99.9", "trials")


class Capacity(Searching, ConnectedTest):
    tag = "capacity"
    order = 3
    metrics = (CAPACITY,)
    heading = "Capacity"
    about = (
        "The highest fixed rate with which a long probe is within the objective for response times (from the "
        "intended send) and errors, with at least 99% of the planned requests answered in time, and without a "
        "growing backlog. If the generator, the highest allowed rate or the time ended a search, the capacity is "
        "a lower bound. If the number of probes ended it, the capacity is unknown."
    )
    table = {CAPACITY: "capacity, requests/s"}


def _recovery_s(trial: Trial) -> float | None:
    found = course(trial)
    return found.recovery_s if found else None


RECOVERY = Metric(
    "recovery_s",
    "time to recover",
    "s",
    _recovery_s,
    short="recovery",
    better="sooner",
    worse="later",
    question="time to recover after the origin works again",
    first="is back the soonest",
    cost_units=("requests",),
)


class Recovery(ConnectedTest):
    tag = "recovery"
    order = 3
    paces = (FixedRate,)
    in_slices = False  # The origin's recipe starts with the load, and defines when the origin fails.
    failures_allowed = 1.0  # the requests are expected to fail while the origin fails
    metrics = (RECOVERY,)
    heading = "Recovery"
    about = (
        "The origin works, then fails, and then works again. Time to recover lasts from that moment to the end of "
        f"the first good second: for {FOR_SECONDS} seconds in a row, as many requests succeed as before, and "
        f"their p50 is within {TIME_SLACK:.0%} of the usual value. Much faster answers are errors or old copies, "
        "so such seconds aren't good. A copy that a view returns while the origin fails counts as a success, and "
        "has its own column. Lost requests are all failures from the origin's first failure until the recovery. "
        "Response times cover the whole test."
    )
    caption = "Recovery: {what}"
    table = {RECOVERY: "recovers in, s", P50: "p50, ms", P99: "p99, ms"}
    optional = ("p50, ms", "stale", "trials")

    def why_unknown(self, trial: Trial) -> str:
        if self.decisive.read(trial) is not None:
            return ""
        if trial.meanwhile is None or trial.meanwhile.origin is None:
            return "there was no origin that could fail"
        return "the setup did not sustain the rate before the origin failed, or the recipe has no failing stage"

    def quick(self) -> Self:
        return dataclasses.replace(self, warmup_s=min(QUICK_WARMUP_S, self.warmup_s))
