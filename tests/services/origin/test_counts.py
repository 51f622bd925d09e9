"""What an origin says that it saw, by a clock that the test moves."""

import pytest

from loadtests.services.origin.counts import KEPT_SECONDS, Counts
from loadtests.services.origin.player import Fate


@pytest.fixture
def counts(clock):
    return Counts(clock)


def test_requests_in_flight_are_reported_over_time(counts, clock):
    """By Little's law: a request that is there for half of a second is half a request in it."""
    counts.began(True)
    clock.now += 0.5
    counts.began(True)
    clock.now += 1.0  # 1.5 s
    counts.ended(Fate.ANSWERED, 200, 0.0)
    clock.now += 1.5  # 3 s
    seconds = counts.seconds()
    assert [second["in_flight"] for second in seconds] == [1.5, 1.5, 1.0]
    assert [second["most_in_flight"] for second in seconds] == [2, 2, 1]
    assert [second["requests"] for second in seconds] == [2, 0, 0]
    assert [second["answered"] for second in seconds] == [0, 1, 0]
    assert [second["opened"] for second in seconds] == [2, 0, 0]
    counts.left(Fate.ANSWERED)
    clock.now += 10
    assert counts.totals()["request_seconds"] == 4.0
    counts.clear()
    assert counts.totals()["request_seconds"] == 0


def test_scheduling_delay_is_reported_as_percentiles(counts):
    assert counts.totals()["late_ms"] == {"p50": None, "p99": None, "max": 0.0}
    for late_ms in range(1, 101):
        counts.began(False)
        counts.ended(Fate.ANSWERED, 200, late_ms / 1000)
    assert counts.totals()["late_ms"] == {"p50": 50.0, "p99": 99.0, "max": 100.0}


def test_what_is_in_flight_stays_when_all_else_is_counted_anew(counts, clock):
    counts.began(True)
    clock.now += 5
    counts.clear()
    assert counts.seconds() == []
    counts.ended(Fate.FAILED, 503, 0.0)
    totals = counts.totals()
    assert (totals["total_requests"], totals["in_flight_before"], totals["in_flight"]) == (0, 1, 0)
    assert (totals["fates"], totals["503"]) == ({"failed": 1}, 1)


def test_a_week_of_nothing_takes_no_time_and_no_room(counts, clock):
    clock.now += 7 * 24 * 3600 + 0.5
    seconds = counts.seconds()
    assert len(seconds) == KEPT_SECONDS
    assert seconds[-1]["t"] == 7 * 24 * 3600 - 1
