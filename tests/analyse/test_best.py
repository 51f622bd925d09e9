"""Test which cells of a sweep may be the best."""

import random
from math import log

import pytest

from loadtests.analyse.best import places
from tests.fixtures.exhaustive import exhaustive_but
from tools.simulation import sweeps


def samples(speeds, blocks=4, noise=0.01):
    """Return random values for each label and block. The blocks differ much more than the labels."""
    rng = random.Random(1)
    return {
        label: {block: log(speed * (1 + block)) + rng.gauss(0, noise) for block in range(blocks)}
        for label, speed in speeds.items()
    }


def test_significantly_worse_cells_are_dropped():
    found = places(samples({"a": 100.0, "b": 100.5, "c": 60.0}), more_is_better=True)
    assert [place.may_be_best for place in found.values()] == [True, True, False]
    assert max(place.ratio for place in found.values()) == 1
    assert found["c"].ratio == pytest.approx(0.6, rel=0.03)
    assert found["c"].worst < found["c"].ratio
    assert all(place.worst < 1 for place in found.values())


def test_ratio_grows_if_less_is_better():
    found = places(samples({"a": 100.0, "b": 100.5, "c": 60.0}), more_is_better=False)
    assert [place.may_be_best for place in found.values()] == [False, False, True]
    assert found["a"].worst > found["a"].ratio > 1
    assert found["c"].ratio == 1


def test_cell_with_missing_blocks_is_compared():
    given = samples({"a": 100.0, "b": 100.5, "c": 60.0})
    del given["c"][0], given["c"][1]
    found = places({**given, "d": {}}, more_is_better=True)
    assert found.keys() == {"a", "b", "c"}
    assert found["c"].ratio == pytest.approx(0.6, rel=0.03)
    assert not found["c"].may_be_best


@pytest.mark.parametrize(
    ("given", "worst"),
    [
        pytest.param({"a": {1: 1.0, 2: 1.1}}, 1, id="a single cell"),
        pytest.param(samples({"a": 100.0, "b": 10.0}, blocks=1), 0, id="a single block, so the noise is unknown"),
        pytest.param({"a": {1: 1.0, 2: 1.1}, "b": {3: 5.0, 4: 5.1}}, 0, id="no block in common"),
    ],
)
def test_indistinguishable_cells_are_all_kept(given, worst):
    found = places(given, more_is_better=True).values()
    assert {(place.may_be_best, place.worst) for place in found} == {(True, worst)}


@pytest.mark.parametrize(
    "noise", ["normal", "heavy tails", "slow mode", "drifting machine", "one bad block", "one noisy setup"]
)
@pytest.mark.parametrize("blocks", exhaustive_but((4,), [2, 4]))
def test_truly_best_cell_is_rarely_dropped(noise, blocks):
    assert sweeps.swept(noise, 8, blocks, repetitions=100, seed=2).lost <= 0.09
