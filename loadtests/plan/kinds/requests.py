"""Define tests that send HTTP requests, either one request or a mix.

The tests measure latency, throughput, capacity, or the recovery from a failing origin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.plan.cost_unit import CPU
from loadtests.plan.fields import NEEDED, Keys, TablePlace, digest
from loadtests.plan.kinds.kind import Farthest, Kind, searching
from loadtests.plan.kinds.pace import ClosedLoopOver, FixedRate, Pace, RecordedPace, ShareOfCeiling
from loadtests.plan.kinds.work import CEILING_CONNECTIONS, Work
from loadtests.plan.metrics import P50, P95, P99, TIMES, Metric, capacity_of, rate_of
from loadtests.plan.recovery_time import FOR_SECONDS, TIME_SLACK, course
from loadtests.records import Trial
from loadtests.setups import HTTP
from loadtests.setups.fetching import ORIGIN, fetches
from loadtests.workload import Load, Request, Workload, from_toml
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.from_toml import MixedRequestTable, RequestTable

if TYPE_CHECKING:
    from typing import Self

_MIX: Keys = {"requests": (Annotated[list[MixedRequestTable], Meta(min_length=1, description="A mix.")], NEEDED)}
Protocol = Annotated[Literal["http", "http2"], Meta(description="HTTP/1.1, or HTTP/2 over one connection.")]
Clients = Annotated[
    Literal["keep-alive", "closing"],
    Meta(description="Whether clients keep connections, or open a new connection for each request."),
]
Resumption = Annotated[bool, Meta(description="Whether a new connection resumes a TLS session if possible.")]
Silent = Annotated[
    int, Meta(ge=0, le=MAX_CONNECTIONS, description="The number of additional connections that send nothing.")
]
Waits = Annotated[bool, Meta(description="Whether views wait on purpose, so that full cores aren't expected.")]
_WAITING_PATHS = (
    "/wait",
    "/async/wait",
)  # paths of the sample project's views that wait, in addition to views that fetch
_FILE: Keys = {"workload": (Annotated[str, Meta(description="A workload file.")], NEEDED)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Requests(Work):
    KEYS: ClassVar[Keys] = {"pace": (Literal["even"], "even")}

    has_load_curve = True

    requests: tuple[Request, ...] = dataclasses.field(metadata={"key": None})
    protocol: Protocol = "http"
    clients: Clients = "keep-alive"
    resumption: Resumption = True
    silent: Silent = 0
    waits: Waits = False

    def __post_init__(self) -> None:
        if self.clients == "closing":
            closing = tuple(dataclasses.replace(request, closes=True) for request in self.requests)
            object.__setattr__(self, "requests", closing)

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
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        return cls(requests=workload_of(values, place).requests, **cls.own(values))

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        found = msgspec.convert({**values, "requests": []}, cls)
        requests = tuple(Request.from_dict(request) for request in values["requests"])
        return dataclasses.replace(found, requests=requests)

    @property
    def all_requests(self) -> tuple[Request, ...]:
        return self.requests

    @property
    def waits_on_purpose(self) -> bool:
        paths = [request.path.partition("?")[0] for request in self.requests]
        return self.waits or any(path in _WAITING_PATHS or fetches(path) for path in paths)

    def record(self) -> dict[str, Any]:
        """Return the values that differ from the defaults. The record of the test contains the requests."""
        usual = {field.name: field.default for field in dataclasses.fields(self)} | {"requests": self.requests}
        return {name: value for name, value in super().record().items() if value != usual[name]}

    @property
    def _sent(self) -> str:
        if len(self.requests) > 1:
            return f"a mix of {plural(len(self.requests), 'request')}"
        [request] = self.requests
        return f"{request.method} {request.path}"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        if self.requests == (Request(self._sent, path=self.requests[0].path, closes=self.clients == "closing"),):
            return ""
        return digest([request.identity.to_dict() for request in self.requests])

    @property
    def comparison_key(self) -> tuple[object, ...]:
        sent = tuple(request.identity for request in self.requests)
        return (sent, self.protocol, self.resumption, self.silent, self.sign_in)

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP, self.protocol, *("head" for request in self.requests if request.method == "HEAD")})

    def needs_memory_at_rest(self, services: Sequence[str]) -> bool:
        return ORIGIN in services  # to calculate the memory of a request that waits for the origin

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        return Load(**fields, protocol=self.protocol, resumption=self.resumption, silent=self.silent)

    def loop_condition(self, clients: int | None) -> str:
        if self.protocol == "http2" and self.clients == "keep-alive":
            return f"with {plural(clients or 0, 'request')} at once over one connection"
        return super().loop_condition(clients)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        return dataclasses.replace(self, requests=requests)

    def with_bodies(self) -> Self:
        return dataclasses.replace(self, requests=tuple(request.with_body() for request in self.requests))

    def subject(self, pace: Pace) -> str:
        sent = self._sent
        if isinstance(pace, RecordedPace):
            sent = f"a recording of {plural(len(pace.recorded), 'request')}"
        return f"{sent}{' over HTTP/2' if self.protocol == 'http2' else ''}{self._who}{self._how_connected}"

    @property
    def _how_connected(self) -> str:
        silent = f", next to {plural(self.silent, 'silent connection')}" if self.silent else ""
        if self.clients == "keep-alive":
            return f"{'' if self.resumption else ', TLS sessions not resumed'}{silent}"
        return f", each over a new connection{'' if self.resumption else ' with a full TLS handshake'}{silent}"

    def ceiling(self, duration_s: float) -> tuple[Work, Pace]:
        return self, ClosedLoopOver(connections=CEILING_CONNECTIONS, duration_s=duration_s)


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


def _recovery_s(trial: Trial) -> float | None:
    found = course(trial)
    return found.recovery_s if found else None


def _why_no_recovery(trial: Trial) -> str:
    origin = trial.meanwhile.origin if trial.meanwhile else None
    if origin is None:
        return "there was no origin that could fail"
    return "the setup did not sustain the rate before the origin failed, or the recipe has no failing stage"


RPS = rate_of("rps", "throughput", "requests", "answers the most")
CAPACITY = capacity_of("capacity_rps", "requests")
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
    shows_figures=True,
)

THROUGHPUT = Kind(
    name="throughput",
    order=2,
    work=Requests,
    paces=(ClosedLoopOver,),
    defaults={"connections": 10},
    metrics=(RPS,),
    judged=(RPS, CPU),
    heading="Throughput over time",
    about=(
        "Successful requests per second. In a closed loop, each connection waits for its answer before it sends the "
        "next request, so a slow server gets fewer requests. Read the response times of such a test as part of its "
        "throughput."
    ),
    caption="Throughput: {what}",
    columns={RPS: "requests/s", P50: "p50, ms", P99: "p99, ms"},
    optional=("p50, ms", "trials"),
)
KINDS = (
    Kind(
        name="latency",
        order=1,
        work=Requests,
        paces=(RecordedPace, ShareOfCeiling, FixedRate),
        ceiling=THROUGHPUT,
        judged=(P50, Farthest((P99, P95)), CPU),
        decisive=P99,
        heading="Latency",
        about=(
            "Response time starts when a request should have been sent, so delays of the generator and the server "
            "count. Service time, which some engines measure instead, starts when the request was sent. Percentiles "
            "are means over trials."
        ),
        caption="{latency}, ms: {what}",
        columns={metric: metric.short for metric in TIMES},
        optional=("p95", "p90", "p99.9", "trials"),
    ),
    THROUGHPUT,
    searching(
        CAPACITY,
        "p99<50ms",
        name="capacity",
        order=3,
        work=Requests,
        heading="Capacity",
        about=(
            "The highest fixed rate with which a long probe is within the objective for response times (from the "
            "intended send) and errors, with at least 99% of the planned requests answered in time, and without a "
            "growing backlog. If the generator, the highest allowed rate or the time ended a search, the capacity is "
            "a lower bound. If the number of probes ended it, the capacity is unknown."
        ),
    ),
    Kind(
        name="recovery",
        order=3,
        work=Requests,
        paces=(FixedRate,),
        # The origin's recipe starts with the load, and defines when the origin fails.
        in_one_piece=True,
        allowed_failures=1.0,  # the requests are expected to fail while the origin fails
        metrics=(RECOVERY,),
        judged=(RECOVERY,),
        why_unknown=_why_no_recovery,
        heading="Recovery",
        about=(
            "The origin works, then fails, and then works again. Time to recover lasts from that moment to the end of "
            f"the first good second: for {FOR_SECONDS} seconds in a row, as many requests succeed as before, and "
            f"their p50 is within {TIME_SLACK:.0%} of the usual value. Much faster answers are errors or old copies, "
            "so such seconds aren't good. A copy that a view returns while the origin fails counts as a success, and "
            "has its own column. Lost requests are all failures from the origin's first failure until the recovery. "
            "Response times cover the whole test."
        ),
        caption="Recovery: {what}",
        columns={RECOVERY: "recovers in, s", P50: "p50, ms", P99: "p99, ms"},
        optional=("p50, ms", "stale", "trials"),
    ),
)
