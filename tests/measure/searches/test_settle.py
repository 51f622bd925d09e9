"""When the probes of a rate are enough to say whether it passes."""

import pytest

from loadtests.measure.searches.judge import Judgement, Outcome, Tail
from loadtests.measure.searches.settle import leaning, settled

MOST = 8


def probe(late, allowed=100.0, by_second=None):
    """A doubtful probe of 30 seconds whose late requests are spread evenly, unless it is said how."""
    spread = by_second or [late / 30] * 30
    return Judgement(Outcome.PASS if late <= allowed else Outcome.FAIL, "", False, Tail(late, allowed, tuple(spread)))


def clumped(late, clumps, allowed=100.0):
    """The same, with its late requests in so many of its seconds."""
    seconds = [late / clumps if second % (30 // clumps) == 0 else 0.0 for second in range(30)]
    return probe(late, allowed, seconds)


@pytest.mark.parametrize(("late", "outcome"), [(0, Outcome.PASS), (80, Outcome.PASS), (130, Outcome.FAIL)])
def test_late_requests_that_come_one_by_one_are_told_by_one_probe(late, outcome):
    assert settled([probe(late)], MOST) is outcome


@pytest.mark.parametrize(("late", "outcome"), [(99, Outcome.PASS), (101, Outcome.FAIL)])
def test_what_is_too_near_to_the_limit_is_asked_again_and_decided_by_the_sum_in_the_end(late, outcome):
    assert settled([probe(late)] * (MOST - 1), MOST) is None
    assert settled([probe(late)] * MOST, MOST) is outcome
    assert settled([probe(late), probe(200 - late), probe(late)], 3) is outcome


def test_a_small_difference_takes_some_probes_to_be_told():
    assert settled([probe(92)], MOST) is None
    assert settled([probe(92)] * 4, MOST) is Outcome.PASS


def test_clumps_need_more_probes_than_single_requests():
    assert settled([probe(50)], MOST) is Outcome.PASS
    assert settled([clumped(50, 2)], MOST) is None
    assert settled([clumped(50, 2)] * 4, MOST) is Outcome.PASS


@pytest.mark.parametrize("late", [150, 3000])
def test_one_clump_never_fails_a_rate(late):
    assert settled([clumped(late, 1)], MOST) is None
    assert settled([clumped(late, 1), probe(0)], MOST) in {None, Outcome.PASS}


def test_a_clear_probe_is_enough():
    assert settled([Judgement(Outcome.FAIL, "", clear=True)], MOST) is Outcome.FAIL


def test_what_no_limit_decided_is_what_two_probes_agree_on():
    invalid = Judgement(Outcome.INVALID, "", clear=False)
    assert settled([invalid], MOST) is None
    assert settled([probe(99), invalid], MOST) is None
    assert settled([probe(99), probe(99), invalid, probe(99)], MOST) is Outcome.PASS
    assert settled([probe(99), invalid, invalid], MOST) is Outcome.INVALID


def test_where_there_can_be_no_more_the_sum_decides():
    assert leaning([probe(120), probe(70)]) is Outcome.PASS
    assert leaning([probe(70), Judgement(Outcome.INVALID, "", clear=False)]) is Outcome.INVALID
