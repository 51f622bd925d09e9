"""Define tests with many streams of server-sent events at once.

The tests also measure the response times of other requests during the streams.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.cost_unit import EVENTS
from loadtests.plan.fields import TablePlace
from loadtests.plan.kinds.base import Farthest, Searching, Test
from loadtests.plan.kinds.pace import FixedRate, Rate
from loadtests.plan.kinds.search import Search
from loadtests.plan.metrics import P50, P95, P99, Metric, capacity_of, percentile_of
from loadtests.plan.objective import OF_STREAMS, Objective, SearchPlan
from loadtests.plan.percentiles import requests_needed
from loadtests.plan.times import EVENT_DELAY, FIRST_EVENT, VIEW_ENDED, MeasuredTime
from loadtests.records import Streams, Trial
from loadtests.records.bounds import Ordinal
from loadtests.records.decode import Duration
from loadtests.setups import HTTP
from loadtests.workload import EventStreams, Load, Request
from loadtests.workload.conversation import MAX_CONNECTIONS
from loadtests.workload.event_streams import PROTOCOL

if TYPE_CHECKING:
    from typing import Self

LONGEST_S = 10.0  # The maximum length of a stream, because every setup must answer a whole stream before its trial.
ENDINGS = "/events/ended"  # The path that returns the ended views.
LARGEST = 1024 * 1024  # The maximum size of an event in bytes.
MORE_S = 2.0  # The grace period for late streams, in addition to the length of a stream.
PROBE_GRACE_S = 1.0  # The grace period after a probe. A stream without an event then counts as unanswered.


def streams_of(trial: Trial) -> Streams | None:
    """Return the results of a trial's streams, or None if the trial had no streams."""
    return trial.result.streams if trial.result else None


def _of_streams(read: Callable[[Streams], float | None]) -> Callable[[Trial], float | None]:
    return lambda trial: read(found) if (found := streams_of(trial)) else None


def _time(times: MeasuredTime, key: str, name: str, label: str, **words: str) -> Metric:
    return percentile_of(times, key, f"{name}_{key}_ms", f"{label} {key}", cost_units=UNITS, **words)


def _per_s(trial: Trial) -> float | None:
    found, result = streams_of(trial), trial.result
    return found.in_time / result.duration_s if found and result and result.duration_s else None


def _memory_kb(trial: Trial) -> float | None:
    found = streams_of(trial)
    grown = [one.peak_rss_mb - one.idle_rss_mb for one in trial.charged if one.idle_rss_mb is not None]
    slow = trial.result.slow_streams if trial.result else None
    most = (slow or found).most if found else 0
    return sum(grown) * 1024 / most if grown and most else None


def _in_time(trial: Trial) -> float | None:
    left = found.left if (found := streams_of(trial)) else None
    return 100 - left.late * 100 / left.views if left and left.views else None


def _served(trial: Trial) -> float | None:
    slow = trial.result.slow_streams if trial.result else None
    return slow.whole * 100 / slow.begun if slow and slow.begun else None


UNITS = (EVENTS.plural,)
FIRST_P50, FIRST_P90 = (_time(FIRST_EVENT, key, "first_event", "time to the first event") for key in ("p50", "p90"))
DELAY_P50 = _time(EVENT_DELAY, "p50", "event_delay", "delay of events")
DELAY_P99 = _time(
    EVENT_DELAY,
    "p99",
    "event_delay",
    "delay of events",
    called="p99 delay of events",
    short="delay p99",
    question="delay that 1 event in 100 exceeds (p99)",
    first="is the most punctual",
)
LONGEST = Metric(
    "event_delay_max_ms",
    "longest delay of an event",
    "ms",
    _of_streams(lambda found: found.delay_ms["max"]),
    cost_units=UNITS,
)
AT_ONCE = Metric(
    "streams_at_once", "most streams at once", "", _of_streams(lambda found: float(found.most)), cost_units=UNITS
)
EVENTS_PER_S = Metric(
    "events_per_s",
    "events",
    "events/s",
    _per_s,
    more_is_better=True,
    called="events per second",
    short="events/s",
    better="more",
    worse="fewer",
    question="events that all streams receive per second",
    first="streams the most",
    says_unit=True,
    cost_units=UNITS,
)
MEMORY = Metric("memory_kb_per_stream", "memory per stream", "KB", _memory_kb, cost_units=UNITS)
CAPACITY = capacity_of("capacity_streams", EVENTS.plural, "streams", "most streams at once")
ENDED = _time(
    VIEW_ENDED,
    "p50",
    "view_ended",
    "time until the view of a client that left has ended",
    called="p50 time until the view has ended",
    short="view ended p50",
    question="time until the view of a client that left has ended (p50)",
    first="is the fastest",
)
IN_TIME = Metric(
    "views_ended_in_time_percent",
    "views that ended within a second after their client left",
    "%",
    _in_time,
    more_is_better=True,
    cost_units=UNITS,
)
SERVED = Metric("slow_served_percent", "slow clients served", "%", _served, more_is_better=True, cost_units=UNITS)
OF_LEAVING, OF_SLOW = (ENDED, IN_TIME), (SERVED,)
METRICS = (EVENTS_PER_S, AT_ONCE, FIRST_P50, FIRST_P90, DELAY_P50, DELAY_P99, LONGEST, MEMORY, *OF_LEAVING, *OF_SLOW)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanwhileRate(FixedRate):
    """A number of streams at once, and a fixed rate of other requests."""

    streams: Annotated[int, Meta(ge=1, le=MAX_CONNECTIONS, description="The number of streams at once.")] = 100

    compared = (*FixedRate.compared, "streams")
    quick_times: ClassVar[dict[str, float]] = {"duration_s": 4.0}  # enough for several streams of half the length

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "streams": self.streams}


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamSearch(Search):
    """A search for the most streams at once, while other requests are sent at a fixed ``rate``."""

    rate: Rate = 100.0

    unit = "streams"
    whole = True
    most = float(MAX_CONNECTIONS)
    compared = ("objective", "rate")

    @property
    def probes(self) -> tuple[int, int]:
        return 9, 4  # measured values, because the p99 of so few requests varies more than in the simulation

    @property
    def seconds(self) -> float:
        return super().seconds + sum(self.probes) * PROBE_GRACE_S

    def phrase(self, test: Test) -> str:
        return f" at {self.rate:g} {test.load_unit}s per second, the most streams at once within {self.objective}"

    def load(self, seed: int) -> dict[str, Any]:
        paced = {"rate": self.rate, "arrival_seed": seed, "streams": round(self.start_rate)}
        return {"duration_s": self.probe_s, **paced}

    def plan(self, test: Test) -> tuple[Objective, SearchPlan]:
        assert isinstance(test, StreamTest)
        objective, plan = super().plan(test)
        # The starts of the streams are spread over the length of a stream, so a probe takes at least twice this time.
        # The rate of other requests is the same in every probe, so the time for enough requests is known.
        short_s = max(self.probe_s, 2 * test.length_s)
        needed = max((requests_needed(limit.percentile) for limit in objective.limits if not limit.of), default=0)
        long_s = max(self.confirm_s, short_s, needed / self.rate)
        return objective, dataclasses.replace(plan, short_s=short_s, long_s=long_s)

    def needed(self, objective: Objective, test: Test) -> float:
        return 0  # ``plan`` makes the probes long enough


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamTest(Test):
    """Read streams of events from an endpoint, and restart each stream after its end.

    The pace defines the number of streams at once and the rate of other requests.

    Args:
        path: The endpoint, which accepts the parameters ``events`` and ``every``.
        events: The number of events in a stream.
        every_s: The seconds between two events.
        meanwhile: The path of the other requests.
        leave_s: The seconds from the time when a stream was due until its client leaves.
        slow: The number of additional clients that read slowly.
        pause_s: The seconds for which slow clients read nothing after their first event.
        size: The size of an event for slow clients, in bytes.
    """

    order = 4
    in_slices = False
    setup_features = frozenset({HTTP})
    terms = OF_STREAMS
    cost_unit = EVENTS
    time_name = "response time of other requests"
    timed_unit = "request"

    path: Annotated[str, Meta(pattern=r"^/", description="The endpoint that sends the events.")] = "/either/events"
    events: Annotated[Ordinal, Meta(description="The number of events in a stream.")] = 40
    every_s: Annotated[Duration, Meta(description="The time between two events.")] = 0.05
    meanwhile: Annotated[str, Meta(pattern=r"^/", description="The path of the other requests.")] = "/"
    leave_s: Annotated[Duration | None, Meta(description="The time until each client leaves.")] = None
    slow: Annotated[int, Meta(ge=0, le=MAX_CONNECTIONS, description="Additional clients that read slowly.")] = 0
    pause_s: Annotated[Duration, Meta(description="The time for which slow clients read nothing.")] = 4.0
    size: Annotated[int, Meta(ge=1, le=LARGEST, description="The bytes of an event for slow clients.")] = 256 * 1024

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        found = super().own(values, place)
        length_s = found["events"] * found["every_s"]
        if length_s > LONGEST_S:
            raise ValueError(f"events: a stream can last at most {LONGEST_S:g} s, not {length_s:g}")
        return found

    @property
    def every_ms(self) -> int:
        """The interval between events in milliseconds."""
        return round(self.every_s * 1000)

    @property
    def length_s(self) -> float:
        """The length of a stream in seconds, without delays."""
        return self.events * self.every_s

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        # One stream is read before the load, and some streams still run after the load.
        return 2 * self.length_s + (self.pause_s if self.slow else 0)

    @property
    def requests(self) -> tuple[Request, ...]:  # type: ignore[override]
        path = f"{self.path}{'&' if '?' in self.path else '?'}events={self.events}&every={self.every_ms}"
        asked = [(self.meanwhile, self.meanwhile), (self.path, path)]
        if self.slow:
            asked.append((f"{self.path}, slowly", f"{path}&size={self.size}"))
        return tuple(Request(f"GET {name}", path=path) for name, path in asked)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        """Return the test with the first path as the endpoint, and the second path, if any, for the other requests."""
        path, *others = (request.path for request in requests)
        return dataclasses.replace(self, path=path, meanwhile=others[0] if others else self.meanwhile)

    def quick(self) -> Self:
        return dataclasses.replace(super().quick(), events=math.ceil(self.events / 2))

    def load_of(self, fields: dict[str, Any]) -> Load:
        other, stream, *slow = fields["requests"]
        body, streamed, *_ = fields["bodies"] or (None, None)
        streams = EventStreams(stream, fields["streams"], self.events, self.every_ms / 1000, streamed)
        grace_s = PROBE_GRACE_S if self.search else streams.length_s + MORE_S
        shared = {"requests": (other,), "bodies": (body,), "streams": streams, "grace_s": grace_s}
        if slow:
            slowly = dataclasses.replace(streams, request=slow[0], count=self.slow, body=None, pause_s=self.pause_s)
            shared |= {"slow_streams": slowly, "grace_s": grace_s + self.pause_s}
        if self.leave_s is not None:
            endings = dataclasses.replace(stream, name=f"GET {ENDINGS}", path=ENDINGS)
            shared |= {"streams": dataclasses.replace(streams, leave_s=self.leave_s, endings=endings)}
        return Load(**{**fields, **shared}, protocol=PROTOCOL)

    @property
    def subject(self) -> str:
        many = plural(self.pace.streams, "stream") if isinstance(self.pace, MeanwhileRate) else "streams"
        leave = f", clients leaving after {self.leave_s:g} s" if self.leave_s else ""
        slow = f", {plural(self.slow, 'slow client')} next to them" if self.slow else ""
        return (
            f"{many} of {self.events} events ({self.path}, one every {self.every_ms} ms) and "
            f"GET {self.meanwhile} meanwhile{self._who}{leave}{slow}"
        )

    def has_metric(self, metric: Metric) -> bool:
        if (metric in OF_LEAVING and self.leave_s is None) or (metric in OF_SLOW and not self.slow):
            return False
        return super().has_metric(metric)


class Stream(StreamTest):
    tag = "stream"
    paces = (MeanwhileRate,)
    failures_allowed = 1.0  # other requests wait while all threads send streams, and the kind measures these waits
    metrics = METRICS
    heading = "Streams of events"
    about = (
        "Streams, each on its own connection, and other requests at a fixed rate. A stream that ends is restarted "
        "immediately. The starts of the first streams are spread over the length of a stream. 'At once' is the "
        "largest number of streams between their first event and their end. Time to the first event starts when a "
        "stream is due, and includes its connection. It is infinite for refused streams and for streams without an "
        "event. The delay of an event is relative to the most punctual event of its stream. Missing events of "
        "interrupted streams count as infinitely late. If clients leave early, the view records its end (closed, "
        "collected or finished), and the table shows the time since the client left. A slow client stops reading "
        "large events for a while, more than the kernel can buffer, and then reads the rest, unless the server "
        "has disconnected it. Memory is the growth of all processes from rest to their peak, divided by the most "
        "streams at once, or by the slow streams if there are any. It includes fixed allocations."
    )
    caption = "Streams: {what}"
    table = {
        EVENTS_PER_S: "events/s",
        AT_ONCE: "at once",
        FIRST_P50: "first event p50, ms",
        FIRST_P90: "p90, ms",
        DELAY_P50: "delay p50, ms",
        DELAY_P99: "p99, ms",
        LONGEST: "longest, ms",
        ENDED: "view ended p50, ms",
        IN_TIME: "within 1 s, %",
        SERVED: "slow served, %",
        P50: "others p50, ms",
        P95: "others p95, ms",
        P99: "others p99, ms",
        MEMORY: "KB each",
    }
    optional = ("delay p50, ms", "others p50, ms", "others p95, ms", "trials", "KB each", "longest, ms")

    @property
    def choices(self) -> tuple[Metric | Farthest, ...]:
        return (EVENTS_PER_S, DELAY_P99 if self.leave_s is None else ENDED, Farthest((P99, P95)))


class StreamCapacity(Searching, StreamTest):
    tag = "stream-capacity"
    paces = (StreamSearch,)
    defaults = {"objective": "delay p99<100ms, p99<500ms", "start_rate": 10.0, "max_rate": 10_000.0, "confirm": 10.0}
    metrics = (CAPACITY,)
    heading = "Capacity in streams"
    about = (
        "The most streams at once with which a long probe is within the objective for the delay of events "
        "(missing events count as infinitely late), for the response times of other requests, whose rate is the "
        "same in every probe, and for failures: failed requests, interrupted streams, and streams without an "
        "event a second after the end. If something other than the server ended a search, the capacity is a lower "
        "bound. The other figures are from the probe that confirmed the result."
    )
    table = {
        CAPACITY: "streams",
        DELAY_P99: "delay p99, ms",
        P99: "others p99, ms",
        FIRST_P90: "first event p90, ms",
        MEMORY: "KB each",
    }
    optional = ("KB each", "first event p90, ms", "trials", "probes")
