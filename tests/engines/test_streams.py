"""Test that event streams are counted and timed correctly, with a server that counts and times the events itself."""

import dataclasses
import json
import urllib.request
from math import inf
from types import MappingProxyType

import pytest

from loadtests.engines import get
from loadtests.errors import UserError
from loadtests.plan.times import EVENT_DELAY, FIRST_EVENT
from loadtests.records.histogram import decoded
from loadtests.workload import EventStreams, Load, Request
from tests.fixtures.serving_program import started

pytestmark = [pytest.mark.servers, pytest.mark.exhaustive]

EVENTS, EVERY_S = 10, 0.02  # the same values as in tests/fixtures/events_program.py
EARLY = 3
BODY = b"".join(b"id: %d\ndata: token\n\n" % number for number in range(EVENTS))


@pytest.fixture
def streamed():
    """Return a function that loads a path with ``count`` streams and returns the result and the server's counts."""

    def run(path, count=5, body=BODY, manner=MappingProxyType({}), **options):
        request = Request("streams", path=path)
        streams = EventStreams(request, count, EVENTS, EVERY_S, body, **manner)
        fields = {"rate": 50, "duration_s": 1, "grace_s": 3, "protocol": "events", "streams": streams, **options}
        result = get("openloop").run(Load.of_url(f"{url}/ok", **fields))
        with urllib.request.urlopen(f"{url}/counts") as response:
            return result, json.load(response)

    with started("events_program.py") as (port, _):
        url = f"http://127.0.0.1:{port}"
        yield run


@pytest.mark.parametrize("processes", [1, 2])
def test_streams_and_requests_are_counted(streamed, processes):
    result, counts = streamed("/streams", warmup_s=0.2, processes=processes)
    found = result.streams
    assert found.begun == found.whole == found.answered == counts["whole"] > 5
    assert (found.broken, found.unanswered, found.cut, found.missing, found.reason) == (0, 0, 0, 0, "")
    assert found.events == EVENTS * found.begun
    assert 0 < found.in_time <= found.events
    assert 1 <= found.most <= 5
    assert decoded(result.histograms["event_delay"]).total == found.events
    assert decoded(result.histograms["first_event"]).total == found.begun
    assert (result.planned, result.ok, result.streams.delay_ms["max"] is None) == (50, 50, False)


def test_delayed_event_is_late(streamed):
    result, counts = streamed("/late/2000")
    assert result.streams.in_time == 5 * (EVENTS - 1)  # the last event of each stream arrives after the end of the load
    late = decoded(result.histograms["event_delay"]).over(1_500_000)
    assert late == result.streams.whole == counts["whole"] == 5
    assert result.streams.delay_ms["max"] >= 1900
    assert result.streams.first_ms["p50"] < 1500


def test_interrupted_streams_are_counted(streamed):
    result, counts = streamed("/broken/3", duration_s=1.5)
    found = result.streams
    assert (found.broken, found.whole, found.begun) == (counts["broken"], counts["whole"], counts["begun"])
    assert found.broken >= 3
    assert found.missing == found.broken * (EVENTS - EARLY)
    assert found.events == EVENTS * found.whole + EARLY * found.broken
    assert found.reason
    assert FIRST_EVENT.percentile(result, "p50") < inf


def test_refused_or_wrong_stream_is_broken(streamed):
    result, counts = streamed("/refused/2")
    found = result.streams
    assert (found.broken, found.answered) == (counts["refused"], counts["whole"])
    assert (found.begun, found.missing) == (counts["begun"], 0)
    assert found.reason == "status 503 instead of 200"
    result, after = streamed("/streams", body=BODY.replace(b"4", b"5"))
    assert result.streams.broken == result.streams.begun == after["whole"] - counts["whole"]
    assert result.streams.reason == "the answer has an unexpected body"


@pytest.mark.parametrize(
    ("path", "unanswered", "cut", "events", "time"),
    [("/silent", 5, 0, 0, FIRST_EVENT), ("/still", 0, 5, 5 * EARLY, EVENT_DELAY)],
)
def test_streams_without_events_are_infinitely_slow(streamed, path, unanswered, cut, events, time):
    result, _ = streamed(path, duration_s=0.5, grace_s=2.5)
    found = result.streams
    assert (found.begun, found.unanswered, found.cut, found.broken) == (5, unanswered, cut, 0)
    assert (found.answered, found.events, found.missing) == (cut, events, cut * EVENTS - events)
    assert time.percentile(result, "p50") == inf
    assert result.ok == 25


LEAVING = {"leave_s": 0.1, "endings": Request("endings", path="/endings")}


def test_views_of_disconnected_clients_are_measured(streamed):
    result, counts = streamed("/goes-on/300", manner=LEAVING, grace_s=60, processes=2)
    found = result.streams
    assert found.begun == found.left.clients == found.left.ended == counts["left"] >= 10
    assert (found.broken, found.unanswered, found.cut) == (0, 0, 0)
    assert found.answered <= found.events <= EARLY * found.answered  # a slow server sends some events too late
    assert decoded(result.histograms["event_delay"]).total == found.events
    assert found.left.after_ms["p50"] >= 250
    assert decoded(result.histograms["view_ended"]).total == found.left.ended
    result, after = streamed("/goes-on/1500", count=3, manner=LEAVING, duration_s=0.5, grace_s=60)
    assert result.streams.left.late == result.streams.left.ended == after["left"] - counts["left"] >= 3


@pytest.mark.parametrize(("path", "runs_on"), [("/goes-on/60000", True), ("/still", False)])
def test_unfinished_view_is_late(streamed, path, runs_on):
    result, _ = streamed(path, count=2, manner=LEAVING, duration_s=0.3, grace_s=0.7)
    left = result.streams.left
    assert (left.clients > 0, left.ended, left.after_ms["p50"]) == (True, 0, None)
    assert left.late == left.running == (left.clients if runs_on else 0)


def test_slow_clients_are_counted_separately(streamed):
    slowly = EventStreams(Request("slow", path="/large"), 2, EVENTS, EVERY_S, pause_s=0.8)
    result, counts = streamed("/streams", slow_streams=slowly, duration_s=0.5, processes=2)
    slow = result.slow_streams
    assert (slow.reason, slow.whole, slow.broken, slow.events) == ("", counts["large"], 0, EVENTS * counts["large"])
    assert slow.delay_ms["max"] > max(500, slow.first_ms["p50"])
    assert slow.most == 2
    assert result.streams.whole == counts["whole"]
    cut_off = dataclasses.replace(slowly, request=Request("slow", path="/large/100"))
    result, counts = streamed("/streams", slow_streams=cut_off, duration_s=0.5)
    slow = result.slow_streams
    assert slow.broken == slow.begun == counts["cut off"] >= 2
    assert slow.reason


def test_invalid_streams_are_refused():
    with pytest.raises(UserError, match="simultaneous streams must be from 1 to 60,000, not 0"):
        EventStreams(Request("streams"), 0, EVENTS, EVERY_S)
    one = EventStreams(Request("streams"), 1, EVENTS, EVERY_S)
    with pytest.raises(UserError, match="1 stream cannot be shared by 2 processes"):
        Load.of_url("http://127.0.0.1:1/", rate=10, protocol="events", streams=one, processes=2)
