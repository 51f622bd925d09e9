from math import inf, log

import numpy as np
import pytest

from loadtests.analyse.compare.between import simultaneous as simultaneous_runs
from loadtests.analyse.intervals import alone, simultaneous


def normal(blocks: int, seed: int = 0) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).normal(0, 1, blocks)]


def width(values: list[float]) -> float:
    found = alone(values)
    return found.high - found.low


def test_interval_lies_about_the_trimmed_mean_and_is_repeatable() -> None:
    values = normal(10)
    found = alone(values)
    assert found.estimate == pytest.approx(np.mean(sorted(values)[1:-1]))
    assert (found.low + found.high) / 2 == pytest.approx(found.estimate)
    assert found.method == "trimmed"
    assert alone(values) == found


@pytest.mark.parametrize(("blocks", "left_out"), [(8, 1), (19, 1), (20, 2), (35, 3)])
def test_a_tenth_is_left_out_at_either_end(blocks: int, left_out: int) -> None:
    values = sorted(normal(blocks))
    wild = [*values[: blocks - left_out], *[1e6] * left_out]
    assert alone(wild) == alone(values)
    assert width([*wild[:-1], 1e9]) == pytest.approx(width(values))
    assert width([*values[: blocks - left_out - 1], *[1e6] * (left_out + 1)]) > 1e4


def test_limits_are_those_of_normal_noise() -> None:
    # Of many samples whose truth is 0, the interval leaves it out in 5%.
    outside = sum(not found.low < 0 < found.high for seed in range(2000) if (found := alone(normal(10, seed))))
    assert 0.035 < outside / 2000 < 0.065


@pytest.mark.parametrize("blocks", [2, 3, 7])
def test_few_blocks_use_students_t(blocks: int) -> None:
    assert alone(normal(blocks)).method == "student"


def test_students_limits_are_those_of_the_table() -> None:
    # 4.303 is the t table's 97.5% point at 2 degrees of freedom; the standard error is 1 / sqrt(3).
    assert alone([1.0, 2.0, 3.0]).high == pytest.approx(2 + 4.303 / 3**0.5, abs=0.001)


def test_one_block_knows_no_interval_and_none_knows_nothing() -> None:
    found = alone([1.0])
    assert (found.estimate, found.low, found.high, found.method) == (1.0, -inf, inf, alone([]).method)
    assert found.method == "none"


def test_equal_values_are_a_point() -> None:
    found = alone([0.5] * 8)
    assert (found.low, found.high, found.method) == (0.5, 0.5, "constant")


def test_where_only_the_outermost_differ_they_are_not_left_out() -> None:
    found = alone([0.9, *[1.0] * 8, 1.1])
    assert found.method == "student"
    assert found.low < 1 < found.high


@pytest.mark.parametrize("blocks", [3, 10])
def test_each_further_comparison_widens_the_intervals(blocks: int) -> None:
    samples = [normal(blocks, seed) for seed in range(6)]
    one = simultaneous(samples[:1])[0]
    together = simultaneous(samples)[0]
    assert together.high - together.low > one.high - one.low


def test_many_comparisons_hold_together() -> None:
    rng = np.random.default_rng(1)
    missed = sum(
        any(not found.low < 0 < found.high for found in simultaneous(list(rng.normal(size=(10, 8)))))
        for _ in range(400)
    )
    assert missed / 400 <= 0.08


def test_two_runs_with_the_same_figures_are_certainly_equal() -> None:
    values = np.sort(normal(10))
    found = simultaneous_runs([(values, values)])[0]
    assert (found.low, found.high) == (0.0, 0.0)


@pytest.mark.parametrize("blocks", [1, 2, 8])
def test_two_runs_whose_figures_differ_by_rounding_alone_are_certainly_equal(blocks: int) -> None:
    values = np.sort(normal(blocks))
    found = simultaneous_runs([(values, values * (1 + 1e-15))])[0]
    assert (found.method, found.low, found.high) == ("constant", found.estimate, found.estimate)


@pytest.mark.parametrize("blocks", [6, 8])
def test_two_runs_each_constant_but_for_rounding_are_certain(blocks: int) -> None:
    before, after = (np.sort([log(rate * (1 + n / 7)) - log(1 + n / 7) for n in range(blocks)]) for rate in (3.0, 6.0))
    found = simultaneous_runs([(before, after)])[0]
    assert (found.method, found.low, found.high) == ("constant", found.estimate, found.estimate)
    assert found.estimate == pytest.approx(log(2))


@pytest.mark.parametrize("blocks", [4, 10])
def test_interval_between_two_runs_covers_their_difference(blocks: int) -> None:
    before, after = np.sort(normal(blocks)), np.sort(normal(blocks, 1)) + 20
    found = simultaneous_runs([(before, after)])[0]
    assert found.low < 20 < found.high
    assert found.low > 10


def test_two_runs_may_be_differently_noisy_and_long() -> None:
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(400):
        [found] = simultaneous_runs([(np.sort(rng.normal(0, 1, 9)), np.sort(rng.normal(0, 5, 14)))])
        missed += not found.low < 0 < found.high
    assert missed / 400 <= 0.08


@pytest.mark.parametrize("blocks", [2, 3, 5])
def test_a_few_equal_blocks_are_no_proof_for_figures_come_in_steps(blocks: int) -> None:
    assert alone([0.04] * blocks).method == "none"
    [found, _] = simultaneous_runs([(np.full(blocks, 6.2), np.full(blocks, 6.5)), (np.zeros(1), np.ones(1))])
    assert (found.method, found.low, found.high) == ("none", -inf, inf)


@pytest.mark.parametrize("blocks", [6, 8])
def test_ratios_that_differ_by_rounding_alone_are_constant(blocks: int) -> None:
    ratios = [log(3 * (1 + block / 100)) - log(1 + block / 100) for block in range(blocks)]
    assert blocks == 2 or len(set(ratios)) > 1
    found = alone(ratios)
    assert found.method == "constant"
    assert (found.low, found.high) == (found.estimate, found.estimate)


def test_a_spread_that_is_small_and_real_is_no_rounding() -> None:
    assert alone([0.0, 1e-9, 2e-9]).method == "student"
