import pytest

from loadtests.measure.searches.judge import Outcome, ProbeFigures, Tail, judge, lost
from loadtests.plan.objective import OF_DELIVERIES, OF_STREAMS, Objective, parse
from loadtests.records import Second

OBJECTIVE = Objective()
OBJECTIVES = {
    "requests": OBJECTIVE,
    "deliveries": parse("lag p99<100ms", OF_DELIVERIES),
    "streams": parse("delay p99<100ms, p99<500ms", OF_STREAMS),
}
ANSWERED = 9995  # of 10,000 requests, because the last five have no answer yet


def measured(p99=20.0, ok=10_000, errors=0, backlog=(5,) * 10, delay_p99=20.0, **seen):
    """Return the figures of a successful probe at 1,000 requests/s for 10 s, with the given changes."""
    times = {"p99": p99, "lag p99": p99, "delay p99": delay_p99}
    return ProbeFigures(1000.0, 10_000, ok, errors, times, timeline(backlog), **seen)


def timeline(backlog):
    return [second(1000, 1000 - (now - then)) for then, now in zip((0, *backlog[:-1]), backlog, strict=True)]


def second(sent, ok, errors=0, p50_ms=None, p99_ms=None):
    return Second(0, sent, ok, ok, errors, p50_ms, p99_ms)


@pytest.mark.parametrize(
    ("of", "what", "outcome", "why", "clear"),
    [
        ("requests", {}, Outcome.PASS, "within", True),
        ("requests", {"p99": 40.0}, Outcome.PASS, "within", False),
        ("requests", {"p99": 51.0}, Outcome.FAIL, "p99 51.0 ms, at most 50 ms", False),
        ("requests", {"p99": 500.0}, Outcome.FAIL, "p99 500.0 ms", True),
        ("requests", {"errors": 11}, Outcome.FAIL, "0.11% errors, at most 0.10%", False),
        ("requests", {"errors": 500}, Outcome.FAIL, "5.00% errors", True),
        ("requests", {"ok": 9_890}, Outcome.FAIL, "98.9% answered in time, required: 99%", False),
        ("requests", {"backlog": range(20, 220, 20)}, Outcome.FAIL, "the backlog grew", False),
        ("requests", {"lost": "11 errors by second 1"}, Outcome.FAIL, "11 errors by second 1", False),
        ("requests", {"generator_limit": "no core left", "p99": 900.0}, Outcome.INVALID, "no core left", False),
        ("deliveries", {"p99": 120.0}, Outcome.FAIL, "lag p99 120.0 ms, at most 100 ms", False),
        ("deliveries", {"missing": 0.0001}, Outcome.PASS, "within", True),
        ("deliveries", {"missing": 0.0002}, Outcome.FAIL, "0.02% of the deliveries missing, at most 0.01%", False),
        ("deliveries", {"unconnected": 0.02}, Outcome.FAIL, "2.00% of the connections refused or lost", True),
        ("deliveries", {"behind": True}, Outcome.FAIL, "the backlog grew until the end", False),
        ("streams", {"p99": 600.0}, Outcome.FAIL, "p99 600.0 ms, at most 500 ms", False),
        ("streams", {"delay_p99": 120.0}, Outcome.FAIL, "delay p99 120.0 ms, at most 100 ms", False),
        ("streams", {"unstreamed": 0.5}, Outcome.FAIL, "50.00% of the streams interrupted or without an event", True),
    ],
)
def test_each_condition_can_decide_the_outcome(of, what, outcome, why, clear):
    found = judge(measured(**what), OBJECTIVES[of])
    assert (found.outcome, found.clear) == (outcome, clear)
    assert why in found.why


def test_late_deliveries_count_as_messages():
    tail = judge(measured(p99=90.0, over={"lag p99": 60.5}), OBJECTIVES["deliveries"]).tail
    assert tail == Tail(60.5, pytest.approx(100), 10_000, pytest.approx(100), ANSWERED)


def test_late_requests_have_an_allowance():
    assert judge(measured(), OBJECTIVE).tail is None
    passed = judge(measured(p99=40.0, over={"p99": 60}), OBJECTIVE).tail
    assert passed == Tail(60, pytest.approx(100), 10_000, pytest.approx(50), ANSWERED)  # 50 requests in 50 ms
    # The probe was stopped after 2 of 10 s. 150 requests were open, and 50 of these requests weren't late yet. 20 of
    # the 2,000 sent requests are allowed to be late.
    stopped = judge(measured(backlog=(5, 150), over={"p99": 40}, lost="late"), OBJECTIVE).tail
    assert stopped == Tail(140, pytest.approx(20), 2000, pytest.approx(50), 1850)
    assert judge(measured(errors=11, over={"p99": 60}), OBJECTIVE).tail is None


def test_late_requests_use_tightest_limit():
    probe = ProbeFigures(100, 1000, 1000, 0, {"p50": 15.0, "p99": 45.0}, over={"p50": 100, "p99": 9})
    tail = judge(probe, parse("p50<20ms, p99<50ms")).tail
    assert (tail.late, tail.allowed) == (9, pytest.approx(10))


def test_every_limit_must_be_met():
    probe = ProbeFigures(100, 1000, 1000, 0, {"p50": 30.0, "p99": 40.0})
    assert judge(probe, parse("p99<50ms")).outcome is Outcome.PASS
    assert judge(probe, parse("p99<50ms, p50<20ms")).why == "p50 30.0 ms, at most 20 ms"


def test_hopeless_probe_stops_early():
    # In 10 s at 1,000/s, 10,000 requests are planned, and 100 are allowed to be late. The requests of the last 50 ms
    # aren't late yet.
    slow, slower = (second(1000, 1000, p50_ms=p50, p99_ms=60) for p50 in (10, 51))
    for seconds, why in (
        ([], None),
        (timeline([140]), None),
        (timeline([160]), "110 requests over 50 ms by second 1"),
        ([slow] * 10, None),
        ([slow, slower], "510 requests over 50 ms by second 2"),
        ([second(1000, 989, errors=11)], "11 errors by second 1, at most 10"),
    ):
        assert lost(seconds, 1000, 10, OBJECTIVE) == why
    # A slow answer to the publisher isn't a late delivery.
    assert lost(timeline([1000]), 1000, 10, OBJECTIVES["deliveries"]) is None
