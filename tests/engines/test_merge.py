"""Histograms and results: read, added up, kept."""

import dataclasses
import functools
import json
import math
import random
import subprocess

import msgspec
import pytest

from loadtests.engines import node
from loadtests.engines.merge import merge
from loadtests.records import Connections, Deliveries, Result
from loadtests.records.histogram import Histogram
from loadtests.records.result import FIGURES, NOTHING
from loadtests.workload import Request

ENCODE = """
import hdr from 'hdr-histogram-js';
const { values, digits } = JSON.parse(process.argv[1]);
const histogram = hdr.build({ highestTrackableValue: 3600e6, numberOfSignificantValueDigits: digits });
values.forEach((value) => histogram.recordValue(value));
const percentiles = [0.1, 50, 90, 99, 99.9, 100].map((percent) => [percent, histogram.getValueAtPercentile(percent)]);
console.log(JSON.stringify({ text: hdr.encodeIntoCompressedBase64(histogram), percentiles }));
"""


def encoded(values, digits=3):
    """The values in a histogram of the JavaScript library, and its percentiles."""
    return json.loads(said_by_node(json.dumps({"values": values, "digits": digits})))


@functools.cache
def said_by_node(job):
    command = [node.require(), "--input-type=module", "-e", ENCODE, job]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=node.ROOT).stdout


@pytest.fixture(scope="module")
def values():
    chance = random.Random(1)
    return [0, 1, 2047, 2048, 2049, 3_600_000_000] + [int(chance.lognormvariate(9, 3)) for _ in range(2000)]


@pytest.mark.parametrize("digits", [2, 3])
def test_a_histogram_of_the_generator_is_read_as_the_generator_reads_it(values, digits):
    theirs = encoded(values, digits)
    ours = Histogram.decode(theirs["text"])
    assert ours.total == len(values)
    assert [[percent, ours.percentile(percent)] for percent, _ in theirs["percentiles"]] == theirs["percentiles"]
    assert Histogram.decode(ours.encode()) == ours


def test_values_over_a_limit_are_counted():
    histogram = Histogram.decode(encoded([1, 2, 2, 5, 1000])["text"])
    assert [histogram.over(value) for value in (0, 1, 2, 4.5, 5, 2000)] == [5, 4, 2, 2, 1, 0]


def test_percentiles_are_exact_to_a_thousandth(values):
    histogram = Histogram.decode(encoded(values)["text"])
    ordered = sorted(values)
    for percent in (1, 25, 50, 75, 90, 99, 100):
        exact = ordered[math.ceil(len(ordered) * percent / 100) - 1]
        assert exact <= histogram.percentile(percent) <= exact * 1.001


def test_added_up_they_are_one(values):
    halves = [Histogram.decode(encoded(part)["text"]) for part in (values[::2], values[1::2])]
    assert halves[0] + halves[1] == Histogram.decode(encoded(values)["text"])


def test_an_empty_one():
    histogram = Histogram.decode(encoded([])["text"])
    assert (histogram.total, histogram.percentile(50)) == (0, None)
    assert Histogram.decode(histogram.encode()) == histogram


@pytest.mark.parametrize("text", ["", "no base64!", "AAAA", "HISTFAAAAAAAAAAA"])
def test_what_is_no_histogram(text):
    with pytest.raises(ValueError, match="not an HDR histogram"):
        Histogram.decode(text)


def share(planned, ok, errors, spread):
    counts = {"planned": planned, "sent": planned, "completed": ok, "ok": ok}
    return {**counts, "errors": errors, "response_time": spread}


def spread_of(values):
    return {"hdr": encoded(values)["text"], "max_us": max(values, default=0), "sum_us": sum(values)}


def part(values, deliveries=None, connections=None, streams=()):
    """What one process measured that had these response times, in microseconds, and as many errors."""
    spread, nothing = spread_of(values), spread_of([])
    count = len(values)
    return {
        "planned": 2 * count, "sent": 2 * count, "completed": count, "ok": count, "rate": count / 2,
        "billed": count, "backlog": [1, -1],
        "unfinished": 0, "waited": 0, "errors": {"reset": count} if count else {},
        "examples": {"reset": "gone"} if count else {}, "duration_s": 2, "deliveries": deliveries,
        "connections": connections, "streams": streams, "handshakes": None,
        "spreads": dict.fromkeys(("response_time", "service_time", "send_lag", "pacing_lag", "failed"), spread),
        "generator": {"cpu_s": 1, "wall_s": 2, "peak_rss_mb": 3}, "own_ms": None, "machine": "",
        "requests": [share(2 * count, count, {}, spread), share(count, 0, {"reset": count}, nothing)],
    }  # fmt: skip


@pytest.fixture(scope="module")
def result():
    return merge("openloop", [part([1000, 2000, 3000]), part([9000])], [], (Request("often"), Request("rarely")))


def test_processes_are_merged(result):
    assert (result.planned, result.ok, result.errors, result.rate) == (8, 4, {"reset": 4}, 2)
    assert result.response_time_ms == {
        "p50": 2.0, "p90": 9.0, "p95": 9.0, "p99": 9.0, "p99.9": 9.0, "max": 9.0, "mean": 3.75
    }  # fmt: skip


def test_each_request_of_several_is_reported_by_itself(result):
    often, rarely = result.requests
    assert [getattr(often, key) for key in ("name", "planned", "ok", "unfinished", "errors")] == ["often", 8, 4, 4, {}]
    assert often.response_time_ms == result.response_time_ms
    assert (rarely.planned, rarely.ok, rarely.errors) == (4, 0, {"reset": 4})
    assert rarely.response_time_ms == NOTHING


def test_a_single_request_is_not_reported_twice():
    assert merge("openloop", [part([1000])], [], (Request("only"),)).requests == ()


def test_what_a_further_client_saw_of_its_core_stays_with_it():
    there = {"elapsed_s": 2.0, "clock_jump_s": 0.0, "other_load": 0.2, "swapped_pages": 1, "mhz": None}
    parts = [part([1000]), {**part([1000]), "machine": "ssh://second", "conditions": there}]
    first, second = merge("openloop", parts, [], (Request("only"),)).generator
    assert (first.machine, first.other_load, first.swapped_pages) == ("", None, None)
    assert (second.machine, second.other_load, second.swapped_pages) == ("ssh://second", 0.2, 1)


def test_the_summary_is_what_load_prints(result):
    summary = result.summary()
    assert list(summary) == [
        "engine", "planned", "sent", "completed", "ok", "unfinished", "errors", "duration_s", "rate",
        "response_time_ms", "service_time_ms", "send_lag_ms", "examples", "requests", "deliveries",
        "connections", "handshakes",
    ]  # fmt: skip
    for name in ("response_time_ms", "service_time_ms", "send_lag_ms"):
        assert tuple(summary[name]) == FIGURES


def test_a_result_is_kept_whole(result):
    assert msgspec.convert(json.loads(json.dumps(dataclasses.asdict(result))), Result) == result


def test_a_load_that_sends_nothing_is_zeros():
    idle = merge("openloop", [part([]), part([])], [], (Request("only"),))
    assert (idle.planned, idle.sent, idle.ok, idle.unfinished, idle.errors, idle.rate) == (0, 0, 0, 0, {}, 0)
    assert idle.response_time_ms == idle.send_lag_ms == NOTHING
    assert json.dumps(dataclasses.asdict(idle), allow_nan=False)


def deliveries(lags_us, missing, duplicate, reordered):
    counts = {"expected": len(lags_us) + missing, "delivered": len(lags_us), "missing": missing}
    counts.update(duplicate=duplicate, reordered=reordered, stray=0, in_time=len(lags_us), backlog=[3, -1])
    counts.update(messages=5, whole=4, of_messages=None)
    return {**counts, "lag": spread_of(lags_us), "last": spread_of(lags_us[:1]), "reading": spread_of([7])}


def test_the_deliveries_of_several_processes_are_added_up():
    first, second = deliveries([1000, 2000, 3000], 2, 1, 0), deliveries([9000], 0, 3, 1)
    merged = merge("openloop", [part([1000], first), part([], second)], [], (Request("GET /"),))
    times = {"p50": 2.0, "p90": 9.0, "p95": 9.0, "p99": 9.0, "p99.9": 9.0, "max": 9.0, "mean": 3.75}
    counts = {"missing": 2, "duplicate": 4, "reordered": 1, "in_time": 4, "backlog": (6, -2)}
    counts |= {"messages": 10, "whole": 8}
    last = {"p50": 1.0, **dict.fromkeys(("p90", "p95", "p99", "p99.9", "max"), 9.0), "mean": 5.0}
    lain = dict.fromkeys(FIGURES, 0.007)
    assert merged.deliveries == Deliveries(6, 4, **counts, lag_ms=times, last_ms=last, reading_lag_ms=lain)
    for name, values in (("lag", [1000, 2000, 3000, 9000]), ("last", [1000, 9000]), ("reading_lag", [7, 7])):
        assert merged.histograms[name] == Histogram.decode(encoded(values)["text"]).encode()


def test_a_message_to_receivers_of_several_processes_is_whole_with_the_last_of_them():
    first, second = deliveries([1000] * 3, 0, 0, 0), deliveries([9000] * 2, 1, 0, 0)
    first["of_messages"] = [[1, 0, 4000], [1, 1, 5000], [2, 0, 2000]]
    second["of_messages"] = [[1, 0, 9000], [1, 1, None], [2, 1, 1000]]  # (2, 0) has no receivers there
    merged = merge("openloop", [part([], first), part([], second)], [], (Request("GET /"),))
    assert (merged.deliveries.messages, merged.deliveries.whole) == (4, 3)
    assert merged.histograms["last"] == Histogram.decode(encoded([1000, 2000, 9000])["text"]).encode()
    assert (merged.deliveries.last_ms["p50"], merged.deliveries.last_ms["max"]) == (2.0, 9.0)


def test_where_nothing_arrived_there_is_no_lag():
    parts = [part([], deliveries([], 5, 0, 0)), part([], deliveries([], 0, 0, 0))]
    merged = merge("openloop", parts, [], (Request("GET /"),)).deliveries
    assert (merged.expected, merged.delivered, merged.missing, merged.in_time) == (5, 0, 5, 0)
    assert merged.lag_ms == merged.last_ms == NOTHING


def test_without_receivers_there_are_no_deliveries():
    merged = merge("openloop", [part([1000]), part([])], [], (Request("GET /"),))
    assert merged.deliveries is None
    assert "lag" not in merged.histograms


def test_the_streams_that_several_processes_read_are_added_up():
    def read(first_us, delays_us, broken, said, left=None):
        begun, events = len(first_us) + broken, len(delays_us)
        ends = {"begun": begun, "whole": len(first_us), "broken": broken, "unanswered": 0, "cut": 0}
        came = {"answered": len(first_us), "events": events, "in_time": events - 1, "missing": broken, "most": 2}
        spreads = {"first": spread_of(first_us), "delay": spread_of(delays_us), "reading": spread_of([])}
        return {**ends, **came, **spreads, "reason": said, "left": left}

    def gone(*after_us, late=0):
        return {
            "clients": len(after_us) + late,
            "ended": len(after_us),
            "running": late,
            "late": late,
            "after": spread_of(after_us),
        }

    parts = [
        read([1000, 2000, 3000], [0, 500], 0, "", gone(50_000, 90_000)),
        read([9000], [0, 700, 900], 2, "gone", gone(20_000, late=1)),
    ]
    merged = merge(
        "openloop", [part([], streams=[one, read([4000], [0], 0, "")]) for one in parts], [], (Request("GET /"),)
    )
    assert dataclasses.astuple(merged.streams)[:10] == (6, 4, 2, 0, 0, 4, 5, 3, 2, 4)
    assert (merged.streams.first_ms["p50"], merged.streams.first_ms["max"]) == (2, 9)
    assert (merged.streams.delay_ms["max"], merged.streams.reading_lag_ms, merged.streams.reason) == (
        0.9,
        NOTHING,
        "gone",
    )
    assert Histogram.decode(merged.histograms["event_delay"]).total == 5
    left = merged.streams.left
    assert (left.clients, left.ended, left.running, left.late, left.after_ms["max"]) == (4, 3, 1, 1, 90)
    assert Histogram.decode(merged.histograms["view_ended"]).total == 3
    assert (merged.slow_streams.begun, merged.slow_streams.left) == (2, None)  # next to them, and counted apart
    assert merge("openloop", [part([1000])], [], (Request("GET /"),)).streams is None


def test_the_connections_that_several_processes_hold_are_added_up():
    def holding_part(opening_us, refused, lost, seconds, said):
        counts = {"requested": len(opening_us) + refused, "opened": len(opening_us), "refused": refused, "lost": lost}
        sizes = {"sent_bytes": 10 * lost, "received_bytes": 100, "steps": [len(opening_us) // 2, len(opening_us)]}
        sizes["rejoined"] = None
        return {**counts, **sizes, "opening": spread_of(opening_us), "opened_in_s": seconds, "reason": said}

    first, second = (
        holding_part([1000, 2000, 3000], 1, 0, 0.5, ""),
        holding_part([9000], 0, 2, 0.75, "the server closed it"),
    )
    merged = merge("openloop", [part([], None, first), part([], None, second)], [], (Request("GET /"),))
    times = {"p50": 2.0, "p90": 9.0, "p95": 9.0, "p99": 9.0, "p99.9": 9.0, "max": 9.0, "mean": 3.75}
    assert merged.connections == Connections(
        5, 4, 1, 2, opening_ms=times, opened_in_s=0.75, sent_bytes=20, received_bytes=200,
        reason="the server closed it", steps=(1, 4),
    )  # fmt: skip
    assert merge("openloop", [part([1000])], [], (Request("GET /"),)).connections is None
