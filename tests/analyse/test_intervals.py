"""Test intervals for one sample, for many samples and for two runs, and the estimated noise of each setup."""

from math import inf, log

import numpy as np
import pytest

from loadtests.analyse.compare.between import simultaneous as simultaneous_runs
from loadtests.analyse.intervals import alone, simultaneous
from loadtests.analyse.moderated import noises


def normal(blocks, seed=0):
    return [float(value) for value in np.random.default_rng(seed).normal(0, 1, blocks)]


def width(values):
    found = alone(values)
    return found.high - found.low


def test_interval_surrounds_trimmed_mean_repeatably():
    values = normal(10)
    found = alone(values)
    assert found.estimate == pytest.approx(np.mean(sorted(values)[1:-1]))
    assert (found.low + found.high) / 2 == pytest.approx(found.estimate)
    assert found.method == "trimmed"
    assert alone(values) == found


@pytest.mark.parametrize(("blocks", "left_out"), [(8, 1), (19, 1), (20, 2), (35, 3)])
def test_tenth_is_trimmed_at_both_ends(blocks, left_out):
    values = sorted(normal(blocks))
    wild = [*values[: blocks - left_out], *[1e6] * left_out]
    assert alone(wild) == alone(values)
    assert width([*wild[:-1], 1e9]) == pytest.approx(width(values))
    assert width([*values[: blocks - left_out - 1], *[1e6] * (left_out + 1)]) > 1e4


def test_limits_match_normal_noise():
    # If the truth is 0, the intervals of 5% of many samples don't contain it.
    outside = sum(not found.low < 0 < found.high for seed in range(2000) if (found := alone(normal(10, seed))))
    assert 0.035 < outside / 2000 < 0.065


@pytest.mark.parametrize(
    "values",
    [
        *(pytest.param(normal(blocks), id=f"{blocks} blocks") for blocks in (2, 3, 7)),
        pytest.param([0.0, 1e-9, 2e-9], id="a spread that is small and real"),
        pytest.param([0.9, *[1.0] * 8, 1.1], id="only the outermost differ, and are not left out"),
    ],
)
def test_few_values_use_students_t(values):
    found = alone(values)
    assert found.method == "student"
    assert -inf < found.low < found.estimate < found.high < inf


@pytest.mark.parametrize(
    ("values", "method", "reach"),
    [
        ([1.0], "none", inf),
        *(([0.04] * blocks, "none", inf) for blocks in (2, 3, 5)),  # figures come in steps
        ([0.5] * 8, "constant", 0.0),
        *(([log(3 * (1 + n / 100)) - log(1 + n / 100) for n in range(blocks)], "constant", 0.0) for blocks in (6, 8)),
    ],
)
def test_values_equal_except_rounding_are_certain(values, method, reach):
    found = alone(values)
    assert (found.method, found.low, found.high) == (method, found.estimate - reach, found.estimate + reach)


def test_students_limits_match_the_table():
    # 4.303 is the t table's 97.5% point at 2 degrees of freedom; the standard error is 1 / sqrt(3).
    assert alone([1.0, 2.0, 3.0]).high == pytest.approx(2 + 4.303 / 3**0.5, abs=0.001)


def test_interval_of_zero_or_one_block():
    assert alone([1.0]).estimate == 1.0
    assert alone([]).method == "none"


@pytest.mark.parametrize("blocks", [3, 10])
def test_each_further_comparison_widens_the_intervals(blocks):
    samples = [normal(blocks, seed) for seed in range(6)]
    one, together = simultaneous(samples[:1])[0], simultaneous(samples)[0]
    assert together.high - together.low > one.high - one.low


def rounded(rate, blocks):
    """The same figure, except for rounding."""
    return np.sort([log(rate * (1 + n / 7)) - log(1 + n / 7) for n in range(blocks)])


@pytest.mark.parametrize(
    ("before", "after", "apart"),
    [
        pytest.param(np.sort(normal(10)), np.sort(normal(10)), 0, id="the same figures"),
        *(
            pytest.param(np.sort(normal(n)), np.sort(normal(n)) * (1 + 1e-15), 0, id=f"{n} but for rounding")
            for n in (1, 2, 8)
        ),
        *(pytest.param(rounded(3.0, n), rounded(6.0, n), log(2), id=f"{n}, each constant") for n in (6, 8)),
    ],
)
def test_two_runs_may_differ_certainly(before, after, apart):
    [found] = simultaneous_runs([(before, after)])
    assert (found.method, found.low, found.high) == ("constant", found.estimate, found.estimate)
    assert found.estimate == pytest.approx(apart, abs=1e-12)


@pytest.mark.parametrize("blocks", [4, 10])
def test_interval_between_runs_covers_their_difference(blocks):
    before, after = np.sort(normal(blocks)), np.sort(normal(blocks, 1)) + 20
    [found] = simultaneous_runs([(before, after)])
    assert 10 < found.low < 20 < found.high


def test_runs_may_differ_in_noise():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        [found] = simultaneous_runs([(np.sort(rng.normal(0, 1, 9)), np.sort(rng.normal(0, 5, 14)))])
        missed += not found.low < 0 < found.high
    assert missed / 400 <= 0.08


@pytest.mark.parametrize("blocks", [2, 3, 5])
def test_few_equal_blocks_prove_nothing(blocks):
    [found, _] = simultaneous_runs([(np.full(blocks, 6.2), np.full(blocks, 6.5)), (np.zeros(1), np.ones(1))])
    assert (found.method, found.low, found.high) == ("none", -inf, inf)


def drawn(scales, blocks=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (len(scales), blocks)) * np.array(scales)[:, None] + rng.normal(0, 5, blocks)


def test_calm_setup_gets_the_common_noise():
    values = drawn([1.0] * 12)
    calm = values.copy()
    calm[3] = values.mean(axis=0)
    assert noises(calm)[3].variance > 0.2 * np.mean([one.variance for one in noises(calm)])


def test_noisy_setup_keeps_its_own_noise():
    found = [noises(drawn([3.0, *[1.0] * 7], blocks=20, seed=seed)) for seed in range(40)]
    assert np.mean([one[0].variance for one in found]) == pytest.approx(9, rel=0.3)
    assert np.mean([one[1].variance for one in found]) == pytest.approx(1.2, rel=0.3)


def test_blocks_limit_weight_of_other_setups():
    for blocks in (3, 4, 6):
        found = noises(drawn([1.0] * 20, blocks))
        assert all(blocks - 2 < one.freedom <= (blocks - 1) + min(blocks - 2, 4) for one in found)


def test_labels_of_one_setup_share_noise():
    found = noises(drawn([1.0] * 6), alike=[0, 5])
    assert found[0] == found[5]
    assert found[0].freedom > found[1].freedom


@pytest.mark.parametrize(("setups", "blocks"), [(2, 10), (5, 2), (1, 1)])
def test_two_setups_or_blocks_show_nothing(setups, blocks):
    assert set(noises(drawn([1.0] * setups, blocks))) == {None}


def test_setup_with_missing_blocks_uses_others():
    values = drawn([1.0] * 6, blocks=6)
    values[1, :3] = np.nan
    values[2, :4] = np.nan
    found = noises(values)
    assert found[1] is not None
    assert found[2] is None
    assert all(found[row] for row in (0, 3, 4, 5))


def test_identical_ratios_show_no_noise():
    assert set(noises(np.tile([1.0, 2.0, 3.0, 4.0], (5, 1)))) == {None}
