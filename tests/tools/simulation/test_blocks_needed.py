"""What is said of the blocks that would settle a comparison."""

import pytest

from tools.simulation.blocks_needed import settled_by, simulate_needed
from tools.simulation.studies import Scenario

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


def test_what_is_within_reach_is_in_the_range() -> None:
    rates = simulate_needed(Scenario("normal", 0.10, sd=0.06, blocks=6), studies=150, seed=1)
    assert rates.needed > 6
    assert rates.given > 0.1
    assert rates.correct > 0.9


def test_few_blocks_mostly_say_nothing_of_what_is_far_off() -> None:
    rates = simulate_needed(Scenario("normal", 0.05, sd=0.06, blocks=4), studies=150, seed=1)
    assert rates.needed > 20
    assert rates.given < 0.1


def test_smaller_effects_need_more_blocks() -> None:
    assert settled_by("normal", 0.05, 0.06, 60) > settled_by("normal", 0.10, 0.06, 60)
