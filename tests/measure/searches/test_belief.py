"""What probes say together of the capacity."""

import pytest

from loadtests.measure.searches.belief import Belief
from loadtests.measure.searches.judge import Judgement, Outcome, Tail


def clear(passes):
    return Judgement(Outcome.PASS if passes else Outcome.FAIL, "", clear=True)


def counted(late, rate, seconds=30.0):
    """A probe with ``late`` times the late requests that a p99 under 50 ms allows."""
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
    """After an overload of 2,000 requests of which this number was answered; the rest was late."""
    belief = believing()
    tail = Tail(2000.0 - answered, 20.0, 2000.0, 100.0, answered)
    belief.overloaded(2000.0, [Judgement(Outcome.FAIL, "", clear=False, tail=tail)])
    return belief


def test_the_capacity_is_between_what_passes_and_what_fails():
    belief = believing((900.0, clear(True)), (950.0, clear(False)))
    assert belief.capacity == pytest.approx(925, rel=0.03)
    assert belief.spread < believing((900.0, clear(True))).spread


def test_one_probe_that_contradicts_many_is_outvoted():
    many = [(rate, clear(True)) for rate in (800.0, 850.0, 900.0)]
    belief = believing((700.0, Judgement(Outcome.FAIL, "", clear=False)), *many, (1000.0, clear(False)))
    assert 880 < belief.capacity < 1000


def test_what_an_overloaded_server_answers_says_where_its_capacity_ends_and_how_steep_the_rise_is():
    assert overloaded(answered=1000).capacity < overloaded(answered=1400).capacity < 1400
    assert overloaded(answered=1000).spread < believing().spread
    near, far = overloaded(answered=1020), overloaded(answered=1020)
    near.add(980.0, clear(True))
    far.add(620.0, clear(False))
    assert near.rate_with(3.0) / near.capacity < far.rate_with(3.0) / far.capacity


def test_what_an_overload_says_is_outweighed_by_probes_that_contradict():
    belief = overloaded(answered=700)
    for _ in range(3):
        belief.add(1000.0, counted(1.0, 1000.0))
    assert 950 < belief.capacity < 1050


@pytest.mark.parametrize("answered", [0, 1950])
def test_no_queue_grew_or_nothing_was_answered_so_nothing_is_known_of_the_speed(answered):
    assert overloaded(answered=answered).capacity == believing().capacity


@pytest.mark.parametrize(("late", "low", "high"), [(0.2, 1005, 1250), (1.0, 950, 1050), (4.0, 800, 990)])
def test_the_number_of_late_requests_says_how_near_a_rate_is(late, low, high):
    assert low < believing((1000.0, counted(late, 1000.0))).capacity < high


def test_counts_of_neighbouring_rates_add_up_and_more_seconds_say_more():
    once = believing((1000.0, counted(1.5, 1000.0)), (960.0, counted(0.4, 960.0)))
    often = believing(*[(1000.0, counted(1.5, 1000.0)), (960.0, counted(0.4, 960.0))] * 4)
    assert 955 < often.capacity < 1000
    assert often.spread < 0.8 * once.spread
    assert believing((1000.0, counted(1.0, 1000.0, 300.0))).spread < believing((1000.0, counted(1.0, 1000.0))).spread


def test_a_steep_rise_and_a_gentle_one_are_distinguished():
    steep = believing(*[(980.0, counted(0.1, 980.0)), (1020.0, counted(8.0, 1020.0))] * 4)
    gentle = believing(*[(900.0, counted(0.6, 900.0)), (1100.0, counted(1.7, 1100.0))] * 4)
    assert steep.rate_with(2.0) / steep.capacity < gentle.rate_with(2.0) / gentle.capacity


def test_what_is_doubted_is_given_up_sooner():
    short = [(900.0, clear(True)), (920.0, clear(True)), (940.0, clear(True)), (980.0, clear(False))]
    trusting, doubting = believing(*short), believing(*short)
    doubting.doubt()
    assert doubting.capacity == pytest.approx(trusting.capacity, rel=0.02)
    for belief in (trusting, doubting):
        belief.add(900.0, clear(False))
    assert doubting.capacity < 900 < trusting.capacity
