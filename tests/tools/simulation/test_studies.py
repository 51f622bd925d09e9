"""Test simulated studies: false verdicts are rare, and real differences are found."""

import pytest

from tools.simulation.measured_noise import MACHINES, MIDDLE, SIZES, WAYS, simulate_measured
from tools.simulation.studies import NOISES, Scenario, simulate, simulate_runs

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

# If 5% of all studies contain a false verdict, the share exceeds 9% in one of fifty samples of 150 studies. The seeds
# are fixed, so the tests don't fail by chance.
MAX_FALSE_SHARE = 0.09
FIVE = SIZES[0]


@pytest.mark.parametrize(
    "scenario",
    [
        *(Scenario(noise, noise=noise, blocks=blocks) for noise in NOISES for blocks in (5, 10)),
        Scenario("many candidates", candidates=16),
    ],
    ids=lambda scenario: f"{scenario.name} {scenario.blocks}",
)
def test_false_verdicts_are_rare(scenario):
    assert simulate(scenario, studies=150, seed=7).false <= MAX_FALSE_SHARE


@pytest.mark.parametrize("noise", ["normal", "heavy tails", "one noisy setup"])
def test_early_stop_keeps_verdicts_true(noise):
    rates = simulate(Scenario("until", noise=noise, sd=0.02, until=0.05), studies=150, seed=7)
    assert rates.false <= MAX_FALSE_SHARE
    assert rates.width <= 0.05


@pytest.mark.parametrize(
    ("noise", "sd", "candidates"),
    [("normal", 0.04, 4), ("normal", 0.05, 1), ("heavy tails", 0.03, 4), ("one bad block", 0.03, 4)],
)
def test_ten_blocks_reveal_ten_percent(noise, sd, candidates):
    rates = simulate(Scenario(noise, 0.10, noise, sd=sd, candidates=candidates), studies=300, seed=7)
    assert rates.found >= 0.85
    assert rates.false <= MAX_FALSE_SHARE


def test_equal_runs_rarely_differ_significantly():
    assert simulate_runs(Scenario("two runs", blocks=10), studies=100, seed=7).false <= MAX_FALSE_SHARE


@pytest.mark.parametrize("size", SIZES)
def test_slices_narrow_the_intervals(size):
    after, sliced, finer = (simulate_measured(MIDDLE, way, *size, studies=10, seed=1) for way in WAYS)
    assert sliced.reach - 1 < 0.7 * (after.reach - 1)
    assert finer.reach < sliced.reach
    assert finer.found > sliced.found > after.found


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_false_verdicts_are_rare_under_noise(machine, way):
    # If 5% of all studies contain a false verdict, the share exceeds 12% in 1 of 200 samples of 60 studies.
    assert simulate_measured(machine, way, *FIVE, studies=60, seed=7).false <= 0.12
