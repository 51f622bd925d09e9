"""Define tests with many streams of server-sent events at once.

The tests also measure the response times of other requests during the streams.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from loadtests.plan.cost_unit import EVENTS
from loadtests.plan.kinds.kind import Farthest, Kind
from loadtests.plan.kinds.stream_work import MeanwhileRate, Streaming, StreamSearch
from loadtests.plan.metrics import P50, P95, P99, Metric, capacity_of, percentile_of
from loadtests.plan.times import EVENT_DELAY, FIRST_EVENT, VIEW_ENDED, MeasuredTime
from loadtests.records import Streams, Trial

if TYPE_CHECKING:
    from loadtests.plan.kinds.base import Test


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


def _has_metric(test: Test, metric: Metric) -> bool:
    work = test.work
    assert isinstance(work, Streaming)
    return not (metric in OF_LEAVING and work.leave_s is None) and not (metric in OF_SLOW and not work.slow)


def _asked(test: Test) -> Metric:
    return ENDED if _has_metric(test, ENDED) else DELAY_P99


KINDS = (
    Kind(
        name="stream",
        order=4,
        work=Streaming,
        paces=(MeanwhileRate,),
        cost_unit=EVENTS,
        time_name="response time of other requests",
        timed_unit="request",
        allowed_failures=1.0,  # other requests wait while all threads send streams, and the kind measures these waits
        metrics=METRICS,
        judged=(EVENTS_PER_S, _asked, Farthest((P99, P95))),
        has_metric=_has_metric,
        heading="Streams of events",
        about=(
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
            ENDED: "view ended p50, ms",
            IN_TIME: "within 1 s, %",
            SERVED: "slow served, %",
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
            "The most streams at once with which a long probe is within the objective for the delay of events "
            "(missing events count as infinitely late), for the response times of other requests, whose rate is the "
            "same in every probe, and for failures: failed requests, interrupted streams, and streams without an "
            "event a second after the end. If something other than the server ended a search, the capacity is a lower "
            "bound. The other figures are from the probe that confirmed the result."
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
