"""Test how the histograms and timelines of several load processes are merged."""

import json
import math
import random
import subprocess

import pytest

from loadtests.engines import node
from loadtests.engines.merge import Timeline
from loadtests.records.histogram import Histogram

ENCODE = """
import hdr from 'hdr-histogram-js';
const { values, digits } = JSON.parse(process.argv[1]);
const histogram = hdr.build({ highestTrackableValue: 3600e6, numberOfSignificantValueDigits: digits });
values.forEach((value) => histogram.recordValue(value));
const percentiles = [0.1, 50, 90, 99, 99.9, 100].map((percent) => [percent, histogram.getValueAtPercentile(percent)]);
console.log(JSON.stringify({ text: hdr.encodeIntoCompressedBase64(histogram), percentiles }));
"""
CHANCE = random.Random(1)
VALUES = [0, 1, 2047, 2048, 2049, 3_600_000_000] + [int(CHANCE.lognormvariate(9, 3)) for _ in range(2000)]


def histogram_of(values, digits=3):
    histogram = Histogram.empty(digits)
    for value in values:
        histogram.record(value)
    return histogram


@pytest.mark.parametrize(("values", "digits"), [(VALUES, 2), (VALUES, 3), ([], 3)], ids=["coarse", "fine", "empty"])
def test_histogram_of_generator_is_decoded(values, digits):
    command = [node.require(), "--input-type=module", "-e", ENCODE, json.dumps({"values": values, "digits": digits})]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=node.ROOT).stdout)
    ours = Histogram.decode(theirs["text"])
    assert ours == histogram_of(values, digits) == Histogram.decode(ours.encode())
    assert ours.total == len(values)
    assert [[percent, ours.percentile(percent) or 0] for percent, _ in theirs["percentiles"]] == theirs["percentiles"]
    ordered = sorted(values)
    for percent in (1, 25, 50, 75, 90, 99, 100) if values else ():
        exact = ordered[math.ceil(len(ordered) * percent / 100) - 1]
        assert exact <= ours.percentile(percent) <= exact * (1 + 10**-digits)
    assert histogram_of(values[::2]) + histogram_of(values[1::2]) == histogram_of(values)


def test_values_over_a_limit_are_counted():
    histogram = histogram_of([1, 2, 2, 5, 1000])
    assert [histogram.over(value) for value in (0, 1, 2, 4.5, 5, 2000)] == [5, 4, 2, 2, 1, 0]


@pytest.mark.parametrize("text", ["", "no base64!", "AAAA", "HISTFAAAAAAAAAAA"])
def test_invalid_histogram_is_refused(text):
    with pytest.raises(ValueError, match="not an HDR histogram"):
        Histogram.decode(text)


def test_merged_second_covers_all_processes():
    timeline = Timeline(2)
    for times_us, ends in (
        ([1000] * 90, {"200": 90}),
        ([2500] * 6 + [900_000] * 4, {"200": 9, "stale": 1, "timeout": 2}),
    ):
        counts = dict.fromkeys(("sent", "completed", "ok"), len(times_us))
        part = {"t": 0, **counts, "errors": 0, "ends": ends, "hdr": histogram_of(times_us, 2).encode()}
        timeline.add(part, None)
    [second] = timeline.rows()
    assert (second.t, second.sent, second.ok) == (0, 100, 100)
    assert second.ends == {"200": 99, "stale": 1, "timeout": 2}
    assert (second.p50_ms, second.p95_ms, second.p99_ms) == pytest.approx((1.0, 2.5, 900), rel=0.01)
