"""Test the keys and metrics of stream tests."""

import dataclasses
from math import inf

import pytest

from loadtests.measure import open_files
from loadtests.plan import kinds
from loadtests.plan.cost_unit import EVENTS
from loadtests.plan.kinds import stream as kind
from loadtests.plan.kinds.stream import DELAY_P50, DELAY_P99, ENDED, EVENTS_PER_S, FIRST_P50, FIRST_P90, IN_TIME, SERVED
from loadtests.records import LeftClients, Process, Streams
from loadtests.records.result import NOTHING
from tests.fixtures.results import histogram_of, well
from tests.fixtures.schemas import as_json
from tests.fixtures.studies import a_test, load_of


def stream(**keys):
    return a_test("stream", **{"streams": 100, "rate": 125, "duration": "8s", **keys})


def test_streams_run_next_to_other_requests():
    found = stream(path="/events?generator=sync", events=20, every="25ms", meanwhile="/json")
    load = load_of(found)
    assert (load.protocol, [one.path for one in load.requests], load.rate) == ("events", ["/json"], 125)
    assert (load.streams.count, load.streams.events, load.streams.interval_s) == (100, 20, 0.025)
    assert load.streams.request.path == "/events?generator=sync&events=20&every=25"
    assert load.grace_s == pytest.approx(2.5)  # the duration of a stream plus two seconds
    assert (load.bodies, load.streams.body) == ((None,), None)
    assert kinds.from_record(as_json(found.record())) == found
    assert (found.can_interleave, found.fixed_rate) == (False, None)
    assert (found.quick().pace.duration_s, found.quick().length_s) == (4, 0.25)


def test_stream_answers_are_checked():
    found = stream()
    assert [one.path for one in found.requests] == ["/", "/either/events?events=40&every=50"]
    named = tuple(dataclasses.replace(one, headers=(("Host", "mine.org"),)) for one in found.requests)
    load = found.load("http://127.0.0.1:1", named, (b"OK", b"id: 0"), None)
    assert (load.bodies, load.streams.body) == ((b"OK",), b"id: 0")
    assert [one.headers for one in (*load.requests, load.streams.request)] == [(("Host", "mine.org"),)] * 2


def test_clients_may_leave_or_read_slowly():
    found = stream(leave="1s", slow=5, pause="3s", size=100_000)
    load = load_of(found)
    assert (load.streams.leave_s, load.streams.endings.path, load.streams.pause_s) == (1, "/events/ended", 0)
    slow = load.slow_streams
    assert slow.request.path == "/either/events?events=40&every=50&size=100000"
    assert (slow.count, slow.pause_s, slow.leave_s, slow.body) == (5, 3, None, None)
    assert load.grace_s == pytest.approx(7)  # the slow clients need this long to read the rest
    assert found.description == (
        "100 streams of 40 events (/either/events, one every 50 ms) and GET / meanwhile, clients leaving after 1 s, "
        "5 slow clients next to them at 125 requests per second, at random moments"
    )
    assert open_files.needed(found) == 105 + open_files.RESERVE
    assert kinds.from_record(as_json(found.record())) == found
    assert not found.same_as(stream(leave="1s"))


def test_search_varies_only_the_streams():
    found = a_test("stream-capacity", start_rate=20, rate=50)
    objective, plan = found.search
    assert (str(objective), plan.unit, plan.whole) == ("delay p99<100ms, p99<500ms, errors<0.1%", "streams", True)
    assert (plan.short_s, plan.long_s) == (4, 20)  # two consecutive streams, and a thousand other requests
    assert plan.probe_s(1.0, plan.short_s) == 4
    load = load_of(found)
    assert (load.streams.count, load.rate, load.grace_s) == (20, 50, 1)
    probe = load.probing(73.0, 5.0, turn=1)
    assert (probe.streams.count, probe.rate, probe.duration_s) == (73, 50, 5)
    assert kinds.from_record(as_json(found.record())) == found
    assert found.judged == (found.decisive,) == (kind.CAPACITY,)
    longer = a_test("stream-capacity", start_rate=20, rate=50, confirm="40s")
    assert longer.pace.seconds - found.pace.seconds == pytest.approx(4 * (40 - found.pace.confirm_s))


def test_search_judges_events_and_requests():
    assert [metric.name for metric in stream().judged] == [EVENTS_PER_S.name, DELAY_P99.name, "p99_ms"]
    assert [metric.name for metric in stream(duration="6s").judged][2] == "p95_ms"  # for 750 requests
    assert stream().decisive is EVENTS_PER_S


GOOD = Streams(
    begun=400, whole=400, broken=0, unanswered=0, cut=0, answered=400,
    events=16_000, in_time=14_000, missing=0, most=100,
    first_ms={**NOTHING, "p50": 4.0, "p90": 9.0},
    delay_ms={**NOTHING, "p50": 1.0, "p99": 12.0, "max": 40.0},
    reading_lag_ms={**NOTHING, "p50": 0.1, "p99": 0.5},
)  # fmt: skip


@pytest.fixture
def tried(build_run):
    """Return a function that returns a trial whose streams are complete, with the given changes."""
    [trial] = build_run(labels=("gunicorn",), tests=(stream(),), blocks=1).trials()

    def tried(histograms=None, **changes):
        streams = dataclasses.replace(GOOD, **changes)
        return dataclasses.replace(trial, result=well(1000, 8.0, streams=streams, histograms=histograms or {}))

    return tried


def test_stream_metrics_are_read_from_trial(tried):
    metrics = (EVENTS_PER_S, kind.AT_ONCE, FIRST_P50, FIRST_P90, DELAY_P50, DELAY_P99, kind.LONGEST)
    assert [metric.read(tried()) for metric in metrics] == [1750, 100, 4, 9, 1, 12, 40]
    assert EVENTS.count(tried()) == 16_000


def test_missing_events_are_infinitely_late(tried):
    few = {"begun": 100, "answered": 20, "unanswered": 80, "whole": 20, "events": 800}
    assert FIRST_P50.read(tried(**few)) == inf
    half = tried({"first_event": histogram_of({5_000: 40, 2_000_000: 40})}, **{**few, "answered": 80, "unanswered": 20})
    assert FIRST_P50.read(half) == pytest.approx(2000, rel=0.001)  # the median is the 50th of 100 values
    assert FIRST_P90.read(half) == inf
    assert DELAY_P99.read(tried(events=900, missing=100)) == inf
    one_of_200 = tried({"event_delay": histogram_of({1_000: 995})}, events=995, missing=5)
    assert DELAY_P99.read(one_of_200) == pytest.approx(1, rel=0.001)


def test_unended_views_are_infinitely_late(tried):
    def left(views, ended, late):
        return tried(
            {"view_ended": histogram_of({90_000: ended})},
            left=LeftClients(views + 7, ended, views - ended, late, {**NOTHING, "p50": 90.0}),
        )

    assert (ENDED.read(left(100, 100, 0)), IN_TIME.read(left(100, 100, 0))) == (90, 100)
    assert ENDED.read(left(100, 80, 20)) == pytest.approx(90, rel=0.001)
    assert (ENDED.read(left(100, 40, 60)), IN_TIME.read(left(100, 40, 60))) == (inf, 40)
    assert ENDED.read(left(19, 19, 0)) is None


def test_served_slow_clients_are_counted(tried):
    trial = tried()
    slow = dataclasses.replace(trial.result.streams, begun=10, whole=6, broken=3, cut=1)
    assert SERVED.read(dataclasses.replace(trial, result=dataclasses.replace(trial.result, slow_streams=slow))) == 60
    assert SERVED.read(trial) is None


def test_unreliable_stream_metrics_are_unknown(tried):
    assert (FIRST_P90.read(tried(begun=99, answered=99)), DELAY_P99.read(tried(events=999))) == (None, None)
    late = tried(reading_lag_ms={**NOTHING, "p50": 0.1, "p99": 3.1})
    assert (DELAY_P50.read(late), DELAY_P99.read(late)) == (1, None)
    assert DELAY_P99.read(dataclasses.replace(late, status="invalid")) == 12  # shown as unverified
    without = dataclasses.replace(tried(), result=well(1000, 8.0))
    assert [metric.read(without) for metric in kind.METRICS] == [None] * len(kind.METRICS)
    assert EVENTS.count(without) == 0


def test_memory_per_stream_is_growth(tried):
    master, worker = (
        Process("web", "web", pid, 1.0, peak, peak - 1, 10, idle_rss_mb=idle)
        for pid, peak, idle in ((1, 20.0, 20.0), (2, 60.0, 50.0))
    )
    assert kind.MEMORY.read(dataclasses.replace(tried(), processes=(master, worker))) == pytest.approx(102.4)
    assert kind.MEMORY.read(dataclasses.replace(tried(most=0), processes=(worker,))) is None
