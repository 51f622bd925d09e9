"""Test how the output of other load generators is read, and openloop on servers with known response times."""

from pathlib import Path

import psutil
import pytest

from tests.fixtures.waiting import wait_for
from tools import other_generators

SAMPLES = Path(__file__).with_name("samples")


@pytest.mark.parametrize("tool", ["vegeta", "k6", "oha", "h2load"])
def test_output_of_each_tool_is_read(tool):
    # Each tool ran at 200 requests per second for 4 s against the server that freezes for one second in every four.
    [first, *_] = [way for way in other_generators.WAYS if way.tool == tool]
    times, dropped = first.read((SAMPLES / f"{tool}.txt").read_text())
    assert list(times) == [50, 90, 95, 99]
    assert times[50] < 100 < times[99] < 1100  # milliseconds
    assert (dropped, times[90] > 500) == (0, tool != "h2load")


def test_dropped_iterations_of_k6_are_read():
    times, dropped = other_generators.read_k6((SAMPLES / "k6-few.txt").read_text())
    assert (dropped > 0, times[90] < 300) == (True, True)


@pytest.mark.parametrize(
    ("p90", "verdict"), [(600, "agrees"), (650, "agrees"), (700, "differs"), (5, "omits (few users)")]
)
def test_judgement_depends_on_percentiles(p90, verdict):
    assert other_generators.judge({90: p90, 95: 800, 99: 960}, "few users") == verdict


def test_failed_tool_leaves_nothing_running(tmp_path):
    command = "sleep 600 </dev/null >/dev/null 2>&1 & echo $! > pid; echo no such option >&2; exit 3"
    way = other_generators.Way("sh", "a tool", lambda *_: command, lambda *_: "", other_generators.read_vegeta)
    with pytest.raises(other_generators.UserError, match="a tool printed no figures: no such option"):
        other_generators._run(way, "http://127.0.0.1:1/", 1, tmp_path)
    child = int((tmp_path / "pid").read_text())
    wait_for(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE)


@pytest.mark.servers
@pytest.mark.exhaustive
def test_openloop_reports_true_times():
    [ours] = other_generators.measure([])
    assert (ours.label, ours.dropped) == ("openloop", 0)
    assert ours.delay[50] >= other_generators.DELAY_MS - 1  # a timer of the server may be a millisecond early
    for p, truth in other_generators.TRUTH_MS.items():
        assert ours.freeze[p] > 0.97 * truth  # a busy machine can add time
