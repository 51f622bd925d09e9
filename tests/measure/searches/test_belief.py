"""Test the estimate of a capacity from all probes."""

import pytest

from loadtests.measure.searches.belief import Belief
from loadtests.measure.searches.judge import Judgement, Outcome, Tail


def clear(passes):
    return Judgement(Outcome.PASS if passes else Outcome.FAIL, "", clear=True)


def counted(late, rate, seconds=30.0):
    """Return the judgement of a probe with ``late`` times as many late requests as a p99 below 50 ms allows."""
    sent = rate * seconds
    outcome = Outcome.PASS if late <= 1 else Outcome.FAIL
    return Judgement(outcome, "", clear=False, tail=Tail(0.01 * late * sent, 0.01 * sent, sent, 0.05 * rate, sent))


def believing(*probes):
    belief = Belief(1.0, 100_000.0)
    belief.expect(1000.0)
    for rate, judgement in probes:
        belief.add(rate, judgement)
    return belief


def overloaded(answered):
    """Return the estimate after an overload: only ``answered`` of 2,000 requests were answered on time."""
    belief = believing()
    tail = Tail(2000.0 - answered, 20.0, 2000.0, 100.0, answered)
    belief.overloaded(2000.0, [Judgement(Outcome.FAIL, "", clear=False, tail=tail)])
    return belief


def test_capacity_is_between_probed_rates():
    belief = believing((900.0, clear(True)), (950.0, clear(False)))
    assert belief.capacity == pytest.approx(925, rel=0.03)
    assert belief.spread < believing((900.0, clear(True))).spread


def test_overload_shows_capacity_and_steepness():
    assert overloaded(answered=1000).capacity < overloaded(answered=1400).capacity < 1400
    assert overloaded(answered=1000).spread < believing().spread
    near, far = overloaded(answered=1020), overloaded(answered=1020)
    near.add(980.0, clear(True))
    far.add(620.0, clear(False))
    assert near.rate_with(3.0) / near.capacity < far.rate_with(3.0) / far.capacity


@pytest.mark.parametrize("answered", [0, 1950])
def test_overload_without_queue_is_ignored(answered):
    assert overloaded(answered=answered).capacity == believing().capacity


@pytest.mark.parametrize(("late", "low", "high"), [(0.2, 1005, 1250), (1.0, 950, 1050), (4.0, 800, 990)])
def test_late_requests_determine_the_estimate(late, low, high):
    assert low < believing((1000.0, counted(late, 1000.0))).capacity < high
