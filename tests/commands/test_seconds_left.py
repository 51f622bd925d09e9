"""The time left of a run, at its pace so far."""

import pytest

from loadtests.commands.progress import FIRM_S, seconds_left


def test_before_anything_is_done_it_is_as_planned():
    assert seconds_left(planned_s=300, done_s=0, took_s=0) == 300


def test_a_run_that_goes_as_planned_ends_as_planned():
    assert seconds_left(planned_s=300, done_s=100, took_s=100) == 200


def test_where_every_trial_is_repeated_the_rest_takes_twice_as_long_nearly():
    assert seconds_left(planned_s=7200, done_s=3600, took_s=7200) == pytest.approx(7200, rel=0.01)


def test_one_slow_trial_at_the_beginning_says_little():
    assert seconds_left(planned_s=300, done_s=5, took_s=20) < 1.5 * 295
    assert seconds_left(planned_s=300, done_s=FIRM_S, took_s=4 * FIRM_S) == 270 * 2.5


def test_a_run_that_takes_longer_than_planned_has_nothing_left_at_its_end():
    assert seconds_left(planned_s=300, done_s=300, took_s=600) == 0
    assert seconds_left(planned_s=300, done_s=310, took_s=600) == 0  # blocks were added
