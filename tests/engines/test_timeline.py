"""The seconds of a load: what several processes saw of one, put together."""

import pytest

from loadtests.engines.timeline import Timeline
from loadtests.records.heat import BEGINS, LAST_END, end_of, heat
from loadtests.records.histogram import Histogram


def part(t, times_us, **ends):
    """A process's part of a second."""
    histogram = Histogram.empty(2)
    for time_us in times_us:
        histogram.record(time_us)
    counts = {"sent": len(times_us), "completed": len(times_us), "ok": len(times_us), "errors": 0}
    return {
        "t": t,
        **counts,
        "ends": {name.lstrip("_"): count for name, count in ends.items()},
        "hdr": histogram.encode(),
    }


@pytest.fixture
def second():
    timeline = Timeline(2)
    timeline.add(part(0, [1000] * 90, _200=90), None)
    timeline.add(part(0, [2500] * 6 + [900_000] * 4, _200=9, stale=1, timeout=2), None)
    [found] = timeline.rows()
    return found


def test_a_second_is_what_all_processes_saw_in_it(second):
    assert (second.t, second.sent, second.ok) == (0, 100, 100)
    assert second.ends == {"200": 99, "stale": 1, "timeout": 2}
    assert second.p50_ms == pytest.approx(1.0, rel=0.01)
    assert second.p95_ms == pytest.approx(2.5, rel=0.01)
    assert second.p99_ms == pytest.approx(900, rel=0.01)


def test_its_times_are_reported_by_steps(second):
    assert second.heat == ((1.0, 90), (2.0, 6), (700.0, 4))


def test_every_time_is_in_one_step():
    histogram = Histogram.empty()
    for time_us in (0, 99, 100, 1_000_000, 3_600_000_000):
        histogram.record(time_us)
    assert heat(histogram) == ((0.0, 2), (0.1, 1), (1000.0, 1), (700_000.0, 1))
    assert [end_of(begin) for begin in BEGINS] == [*BEGINS[1:], LAST_END]
