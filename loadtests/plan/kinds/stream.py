"""Streams of server-sent events, many at once, and what other requests feel meanwhile."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from loadtests.formatting import plural
from loadtests.plan.cost_unit import EVENTS
from loadtests.plan.kinds.kind import Farthest, Kind
from loadtests.plan.kinds.pace import FixedRate, Pace, Rate
from loadtests.plan.kinds.search import Search
from loadtests.plan.kinds.work import Work
from loadtests.plan.metrics import P50, P95, P99, Metric, capacity_of
from loadtests.plan.objective import OF_STREAMS, Objective, SearchPlan
from loadtests.plan.percentiles import knowable
from loadtests.plan.percentiles_with_failures import of_events, of_first_events
from loadtests.plan.scheduling_delay import EVENT_DELAY
from loadtests.records import Streams, Trial
from loadtests.records.bounds import Ordinal
from loadtests.records.decode import Duration
from loadtests.records.result import PERCENTILES
from loadtests.setups import HTTP
from loadtests.workload import EventStreams, Load, Request
from loadtests.workload.conversation import MOST_CONNECTIONS
from loadtests.workload.event_streams import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

    from loadtests.plan.fields import TablePlace

LONGEST_S = 10.0  # of a stream: every setup answers one before its trial
MORE_S = 2.0  # of grace, after the length of a stream: for those that are late
QUICK_S = 6.0  # so that several streams follow one another
PROBE_GRACE_S = 1.0  # after a probe, for what is under way: a stream that has no event by then is one without


@dataclasses.dataclass(frozen=True, kw_only=True)
class Streaming(Work):
    """Reads streams of the endpoint ``path``, which takes the parameters ``events`` and ``every``; each that has ended
    begins again. The pace says how many at once, and the rate of requests of the path ``meanwhile``."""

    can_interleave = False
    terms = OF_STREAMS

    path: Annotated[str, Meta(pattern=r"^/", description="The endpoint that streams events.")] = "/either/events"
    events: Annotated[Ordinal, Meta(description="Events of a stream.")] = 40
    every_s: Annotated[Duration, Meta(description="From one event to the next.")] = 0.05
    meanwhile: Annotated[str, Meta(pattern=r"^/", description="What other requests ask for meanwhile.")] = "/"

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        found = super().from_keys(values, place)
        if found.length_s > LONGEST_S:
            raise ValueError(f"events: a stream may last {LONGEST_S:g} s at most, not {found.length_s:g}")
        return found

    @property
    def every_ms(self) -> int:
        """The interval of events in milliseconds."""
        return round(self.every_s * 1000)

    @property
    def length_s(self) -> float:
        """How long a stream lasts that is never late."""
        return self.events * self.every_s

    @property
    def opening_s(self) -> float:  # type: ignore[override]
        return 2 * self.length_s  # one is read before the load, and some are under way after it

    @property
    def all_requests(self) -> tuple[Request, ...]:
        query = f"events={self.events}&every={self.every_ms}"
        path = f"{self.path}{'&' if '?' in self.path else '?'}{query}"
        return (Request(f"GET {self.meanwhile}", path=self.meanwhile), Request(f"GET {self.path}", path=path))

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return tuple(self.record().values())

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP})

    def needs_memory_at_rest(self, services: Sequence[str]) -> bool:
        return True

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        other, stream = fields["requests"]
        body, streamed = fields["bodies"] or (None, None)
        streams = EventStreams(stream, fields["streams"], self.events, self.every_ms / 1000, streamed)
        grace_s = PROBE_GRACE_S if isinstance(pace, StreamSearch) else streams.length_s + MORE_S
        shared = {"requests": (other,), "bodies": (body,), "streams": streams, "grace_s": grace_s}
        return Load(**{**fields, **shared}, protocol=PROTOCOL)

    def subject(self, pace: Pace) -> str:
        many = plural(pace.streams, "stream") if isinstance(pace, MeanwhileRate) else "streams"
        return (
            f"{many} of {self.events} events ({self.path}, one every {self.every_ms} ms) and "
            f"GET {self.meanwhile} meanwhile"
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanwhileRate(FixedRate):
    """A number of streams at once, and a fixed rate of other requests."""

    streams: Annotated[int, Meta(ge=1, le=MOST_CONNECTIONS, description="Streams at once.")] = 100

    compared = (*FixedRate.compared, "streams")

    def load(self, seed: int) -> dict[str, Any]:
        return {**super().load(seed), "streams": self.streams}

    def quick(self) -> Self:
        return dataclasses.replace(self, duration_s=min(self.duration_s, QUICK_S))


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamSearch(Search):
    """A search for the most streams at once, with other requests at a ``rate``."""

    rate: Rate = 100.0

    unit = "streams"
    compared = ("objective", "rate")
    step_ratio = 0.1

    @property
    def rates(self) -> tuple[float, float]:
        return 1.0, float(MOST_CONNECTIONS)

    def phrase(self, work: Work, unit: str) -> str:
        return f" at {self.rate:g} {unit}s per second, the most streams at once within {self.objective}"

    def load(self, seed: int) -> dict[str, Any]:
        paced = {"rate": self.rate, "arrival_seed": seed, "streams": round(self.start_rate)}
        return {"duration_s": self.probe_s, **paced}

    def plan(self, work: Work, counts: str, unit: str) -> tuple[Objective, SearchPlan]:
        assert isinstance(work, Streaming)
        objective, plan = super().plan(work, counts, unit)
        # Not all streams have begun before the length of one; and other requests have the same rate in every probe.
        short_s = max(self.probe_s, 2 * work.length_s)
        long_s = max(self.confirm_s, short_s, objective.requests / self.rate)
        return objective, dataclasses.replace(plan, short_s=short_s, long_s=long_s, requests=0, whole=True)


def streams_of(trial: Trial) -> Streams | None:
    """What became of a trial's streams; None where it had none."""
    return trial.result.streams if trial.result else None


def _of_streams(read: Callable[[Streams], float | None]) -> Callable[[Trial], float | None]:
    return lambda trial: read(found) if (found := streams_of(trial)) else None


def _first(key: str) -> Callable[[Trial], float | None]:
    return lambda trial: of_first_events(trial.result, key) if trial.result else None


def _delay(key: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        result = trial.result
        known = result is not None and result.streams and knowable(PERCENTILES[key], result.streams.due)
        if result is None or not known or (trial.valid and EVENT_DELAY.too_late(result, key)):
            return None
        return of_events(result, key)

    return read


def _per_s(trial: Trial) -> float | None:
    found, result = streams_of(trial), trial.result
    return found.in_time / result.duration_s if found and result and result.duration_s else None


def _memory_kb(trial: Trial) -> float | None:
    found = streams_of(trial)
    grown = [one.peak_rss_mb - one.idle_rss_mb for one in trial.charged if one.idle_rss_mb is not None]
    return sum(grown) * 1024 / found.most if grown and found and found.most else None


UNITS = (EVENTS.plural,)
FIRST_P50 = Metric("first_event_p50_ms", "time to the first event p50", "ms", _first("p50"), cost_units=UNITS)
FIRST_P90 = Metric("first_event_p90_ms", "time to the first event p90", "ms", _first("p90"), cost_units=UNITS)
DELAY_P50 = Metric("event_delay_p50_ms", "delay of events p50", "ms", _delay("p50"), cost_units=UNITS)
DELAY_P99 = Metric(
    "event_delay_p99_ms",
    "delay of events p99",
    "ms",
    _delay("p99"),
    called="p99 delay of events",
    short="delay p99",
    question="delay that 1 event in 100 exceeds (p99)",
    first="is the most punctual",
    cost_units=UNITS,
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
    question="events that all streams get per second",
    first="streams the most",
    says_unit=True,
    cost_units=UNITS,
)
MEMORY = Metric("memory_kb_per_stream", "memory per stream", "KB", _memory_kb, cost_units=UNITS)
CAPACITY = capacity_of("capacity_streams", EVENTS.plural, "streams", "most streams at once")
METRICS = (EVENTS_PER_S, AT_ONCE, FIRST_P50, FIRST_P90, DELAY_P50, DELAY_P99, LONGEST, MEMORY)


KINDS = (
    Kind(
        name="stream",
        order=4,
        work=Streaming,
        paces=(MeanwhileRate,),
        cost_unit=EVENTS,
        time_name="response time of other requests",
        timed_unit="request",
        allowed_failures=1.0,  # that others wait while all threads stream is what is asked
        metrics=METRICS,
        judged=(EVENTS_PER_S, DELAY_P99, Farthest((P99, P95))),
        heading="Streams of events",
        about=(
            "Streams, each over a connection of its own, and other requests at a fixed rate meanwhile. A stream that "
            "has ended begins again at once; the first ones begin spread over the length of a stream. The most that "
            "were between their first event and their end are shown as at once. Time to the first event is from when "
            "a stream was due, its connection included; streams that were refused, or had no event by the end, rank "
            "as infinitely slow. When the server meant to send an event is taken from the most punctual event of "
            "its stream; the delay is what it came after that. Missing events of streams that were broken off or stood "
            "still rank as infinitely late. Memory is the growth of all processes, from rest to their peak, over the "
            "most streams at once: what they allocate once is in it."
        ),
        caption="Streams: {what}",
        columns={
            EVENTS_PER_S: "events/s",
            AT_ONCE: "at once",
            FIRST_P50: "first event p50, ms",
            FIRST_P90: "p90, ms",
            DELAY_P50: "delay p50, ms",
            DELAY_P99: "p99, ms",
            LONGEST: "longest, ms",
            P50: "others p50, ms",
            P95: "others p95, ms",
            P99: "others p99, ms",
            MEMORY: "KB each",
        },
        optional=("delay p50, ms", "others p50, ms", "others p95, ms", "trials", "KB each", "longest, ms"),
    ),
    Kind(
        name="stream-capacity",
        order=4,
        work=Streaming,
        paces=(StreamSearch,),
        defaults={"objective": "delay p99<100ms, p99<500ms", "start_rate": 10.0, "max_rate": 10_000.0, "confirm": 10.0},
        cost_unit=EVENTS,
        time_name="response time of other requests",
        timed_unit="request",
        metrics=(CAPACITY,),
        judged=(CAPACITY,),
        heading="Capacity in streams",
        about=(
            "The most streams at once with which a long probe is within the objective: the delay of events, of which "
            "missing ones rank as infinitely late, the response times of other requests, which are sent at the same "
            "rate in every probe, and what failed: a request, a stream that was broken off, or one without an event a "
            "second after the end. Where something else than the server ended a search, its capacity is at least what "
            "was reached. The other figures are those of the probe that confirmed it."
        ),
        caption="Capacity: {what}",
        columns={
            CAPACITY: "streams",
            DELAY_P99: "delay p99, ms",
            P99: "others p99, ms",
            FIRST_P90: "first event p90, ms",
            MEMORY: "KB each",
        },
        optional=("KB each", "first event p90, ms", "trials", "probes"),
    ),
)
