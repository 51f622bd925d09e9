"""Test successive halving with simulated trials."""

import math

import pytest

from loadtests.measure.searches import halving
from loadtests.measure.searches.halving import Halving
from loadtests.records import AdviceOutcome, Round
from tools.simulation import sweeps_and_searches


def play(machine, value, broken=()):
    """Run the state machine to its end, and return the rounds and the outcome.

    ``value(candidate, block)`` is None if contention made the trial invalid. ``broken`` contains (candidate, first
    block of the round) for each failed setup.
    """
    rounds = []
    while isinstance(step := machine.next(), Round):
        rounds.append(step)
        values = {one: {block: value(one, block) for block in step.blocks} for one in step.candidates}
        values = {one: row for one, row in values.items() if (one, step.blocks[0]) not in broken}
        machine.record(step, {one: {b: v for b, v in row.items() if v is not None} for one, row in values.items()})
    return rounds, step


SPEED = {"a": 100.0, "b": 90.0, "c": 80.0, "d": 70.0, "e": 60.0}


def wobbling(one, block):
    """Return values that differ more between blocks than between candidates, but rank correctly within each block."""
    return SPEED[one] * (1 + block % 3) * (1 + 0.01 * math.sin(7 * block + ord(one)))


def test_worse_half_is_dropped():
    rounds, outcome = play(Halving("abcde", 1), wobbling)
    assert [(len(one.candidates), len(one.blocks)) for one in rounds] == [(5, 1), (3, 2), (2, 4)]
    assert [one.candidates for one in rounds] == [("a", "b", "c", "d", "e"), ("a", "b", "c"), ("a", "b")]
    assert [block for one in rounds for block in one.blocks] == list(range(1, 8))
    assert (outcome.pick, outcome.runner_up) == ("a", "b")
    assert outcome.low < 100 / 90 < outcome.high
    assert outcome.significant
    assert play(Halving("abcde", 2, more_is_better=False), wobbling)[1].pick == "e"


def test_interval_uses_only_last_round():
    def lucky_at_first(one, block):
        return wobbling(one, block) * (10 if one == "b" and block < 4 else 1)

    outcome = play(Halving("abcde", 1), lucky_at_first)[1]
    # All rounds together prefer b, but only the last round is unbiased.
    assert (outcome.pick, outcome.runner_up) == ("a", "b")
    assert outcome.ratio == pytest.approx(1 / 0.9, rel=0.03)
    assert outcome.low > 1


def test_no_difference_is_not_significant():
    outcome = play(Halving("ab", 4), lambda one, block: 100 + (5 if (one == "a") == (block % 2 == 0) else 0))[1]
    assert not outcome.significant
    assert outcome.low < 1 < outcome.high


def test_failing_candidate_is_dropped():
    assert play(Halving("abcde", 1), wobbling, broken={("a", 2)})[1].pick == "b"
    assert play(Halving("abc", 1), wobbling, broken={("a", 1), ("b", 1)})[1] == AdviceOutcome("c")


def test_disturbed_candidate_is_not_dropped():
    rounds, outcome = play(
        Halving("abcde", 1), lambda one, block: None if (one, block) == ("a", 1) else wobbling(one, block)
    )
    assert rounds[1].candidates == ("a", "b", "c", "d")
    assert outcome.pick == "a"


def test_halving_needs_few_trials():
    assert halving.plan(12, 1) == [(12, 1), (6, 2), (3, 4), (2, 8)]
    assert halving.trials(12, 1) == 52
    assert halving.grid_trials(12, 1) == 12 * 15
    assert halving.plan(2, 3) == [(2, 3)]


@pytest.mark.parametrize(("landscape", "at_least"), [("plateau", 0.95), ("peak", 0.9), ("needle", 0.6)])
def test_pick_is_good_under_real_noise(landscape, at_least):
    assert sweeps_and_searches.searched(landscape, 12, 1, repetitions=40, seed=1).found >= at_least
