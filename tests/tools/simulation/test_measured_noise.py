"""Studies under measured noise, one trial after another and in slices."""

import pytest

from tools.simulation.measured_noise import MACHINES, MIDDLE, SIZES, WAYS, Machine, Way, simulate_measured

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]
FIVE, NINETEEN = SIZES


@pytest.mark.parametrize("size", SIZES)
def test_slices_make_intervals_narrower_in_the_same_time(size: tuple[int, float]) -> None:
    after, sliced, finer = (simulate_measured(MIDDLE, way, *size, studies=10, seed=1) for way in WAYS)
    assert sliced.reach - 1 < 0.7 * (after.reach - 1)
    assert finer.reach < sliced.reach
    assert finer.found > sliced.found > after.found


def test_more_setups_in_the_time_that_each_has_make_them_wider() -> None:
    few, many = (simulate_measured(MIDDLE, WAYS[0], *size, studies=10, seed=1) for size in SIZES)
    assert many.reach > few.reach


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_false_verdicts_are_rare(machine: Machine, way: Way) -> None:
    # 60 studies at a true rate of 5% give more than 12% once in two hundred times.
    assert simulate_measured(machine, way, *FIVE, studies=60, seed=7).false <= 0.12


def test_the_same_seed_gives_the_same_studies() -> None:
    first, again = (simulate_measured(MIDDLE, WAYS[1], *FIVE, studies=3, seed=5) for _ in range(2))
    assert first == again
