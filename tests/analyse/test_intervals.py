"""Test confidence intervals of one sample, of many samples and of two runs, and the noise estimated for each setup."""

from math import inf, log

import numpy as np
import pytest

from loadtests.analyse.compare.between import simultaneous
from loadtests.analyse.intervals import alone
from loadtests.analyse.moderated import noises


def normal(blocks, seed=0):
    return [float(value) for value in np.random.default_rng(seed).normal(0, 1, blocks)]


def width(values):
    found = alone(values)
    return found.high - found.low


def test_interval_is_centred_on_trimmed_mean():
    values = normal(10)
    found = alone(values)
    assert found.estimate == pytest.approx(np.mean(sorted(values)[1:-1]))
    assert (found.low + found.high) / 2 == pytest.approx(found.estimate)
    assert found.method == "trimmed"
    assert alone(values) == found


@pytest.mark.parametrize(("blocks", "left_out"), [(8, 1), (19, 1), (20, 2), (35, 3)])
def test_outliers_are_trimmed(blocks, left_out):
    values = sorted(normal(blocks))
    wild = [*values[: blocks - left_out], *[1e6] * left_out]
    assert alone(wild) == alone(values)
    assert width([*wild[:-1], 1e9]) == pytest.approx(width(values))
    assert width([*values[: blocks - left_out - 1], *[1e6] * (left_out + 1)]) > 1e4


def test_confidence_intervals_cover_true_mean():
    # The mean of the distribution is 0. About 5% of the 95% intervals must not contain 0.
    outside = sum(not found.low < 0 < found.high for seed in range(2000) if (found := alone(normal(10, seed))))
    assert 0.035 < outside / 2000 < 0.065


@pytest.mark.parametrize(
    "values",
    [
        *(pytest.param(normal(blocks), id=f"{blocks} blocks") for blocks in (2, 3, 7)),
        pytest.param([0.0, 1e-9, 2e-9], id="differences larger than rounding errors"),
        pytest.param([0.9, *[1.0] * 8, 1.1], id="only the trimmed values differ"),
    ],
)
def test_students_t_is_used_without_trimming(values):
    found = alone(values)
    assert found.method == "student"
    assert -inf < found.low < found.estimate < found.high < inf


@pytest.mark.parametrize(
    ("values", "method", "reach"),
    [
        ([1.0], "none", inf),
        *(([0.04] * blocks, "none", inf) for blocks in (2, 3, 5)),  # a few rounded figures can be equal by chance
        ([0.5] * 8, "constant", 0.0),
        *(([log(3 * (1 + n / 100)) - log(1 + n / 100) for n in range(blocks)], "constant", 0.0) for blocks in (6, 8)),
    ],
)
def test_equal_values_need_six_blocks(values, method, reach):
    found = alone(values)
    assert (found.method, found.low, found.high) == (method, found.estimate - reach, found.estimate + reach)


def test_limits_match_the_t_table():
    # The t table contains 4.303 for 97.5% and 2 degrees of freedom. The standard error is 1 / sqrt(3).
    assert alone([1.0, 2.0, 3.0]).high == pytest.approx(2 + 4.303 / 3**0.5, abs=0.001)


def test_constant_runs_have_exact_difference():
    [found] = simultaneous([(np.full(6, log(3.0)), np.full(6, log(6.0)))])
    assert (found.method, found.low, found.high) == ("constant", found.estimate, found.estimate)
    assert found.estimate == pytest.approx(log(2))


@pytest.mark.parametrize("blocks", [4, 10])
def test_interval_between_runs_covers_their_difference(blocks):
    before, after = np.sort(normal(blocks)), np.sort(normal(blocks, 1)) + 20
    [found] = simultaneous([(before, after)])
    assert 10 < found.low < 20 < found.high
    [adjusted, _] = simultaneous([(before, after)] * 2)
    assert adjusted.low < found.low < found.high < adjusted.high


def test_interval_allows_for_different_noise():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        [found] = simultaneous([(np.sort(rng.normal(0, 1, 9)), np.sort(rng.normal(0, 5, 14)))])
        missed += not found.low < 0 < found.high
    assert missed / 400 <= 0.08


@pytest.mark.parametrize("blocks", [2, 3, 5])
def test_few_equal_blocks_are_inconclusive(blocks):
    [found, _] = simultaneous([(np.full(blocks, 6.2), np.full(blocks, 6.5)), (np.zeros(1), np.ones(1))])
    assert (found.method, found.low, found.high) == ("none", -inf, inf)


def drawn(scales, blocks=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (len(scales), blocks)) * np.array(scales)[:, None] + rng.normal(0, 5, blocks)


def test_noise_of_quiet_setup_is_raised():
    values = drawn([1.0] * 12)
    calm = values.copy()
    calm[3] = values.mean(axis=0)
    assert noises(calm)[3].variance > 0.2 * np.mean([one.variance for one in noises(calm)])


def test_noisy_setup_keeps_its_own_noise():
    found = [noises(drawn([3.0, *[1.0] * 7], blocks=20, seed=seed)) for seed in range(40)]
    assert np.mean([one[0].variance for one in found]) == pytest.approx(9, rel=0.3)
    assert np.mean([one[1].variance for one in found]) == pytest.approx(1.2, rel=0.3)


def test_weight_of_other_setups_is_limited():
    for blocks in (3, 4, 6):
        found = noises(drawn([1.0] * 20, blocks))
        assert all(blocks - 2 < one.freedom <= (blocks - 1) + min(blocks - 2, 4) for one in found)


def test_copies_of_a_setup_share_noise():
    found = noises(drawn([1.0] * 6), alike=[0, 5])
    assert found[0] == found[5]
    assert found[0].freedom > found[1].freedom


@pytest.mark.parametrize(("setups", "blocks"), [(2, 10), (5, 2), (1, 1)])
def test_noise_needs_three_setups_and_blocks(setups, blocks):
    assert set(noises(drawn([1.0] * setups, blocks))) == {None}


def test_noise_is_estimated_despite_missing_blocks():
    values = drawn([1.0] * 6, blocks=6)
    values[1, :3] = np.nan
    values[2, :4] = np.nan
    found = noises(values)
    assert found[1] is not None
    assert found[2] is None
    assert all(found[row] for row in (0, 3, 4, 5))


def test_noise_of_constant_ratios_is_unknown():
    assert set(noises(np.tile([1.0, 2.0, 3.0, 4.0], (5, 1)))) == {None}
