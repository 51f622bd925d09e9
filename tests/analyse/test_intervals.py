from math import inf, log

import numpy as np
import pytest

from loadtests.analyse.intervals import alone, balanced_quantiles, simultaneous
from loadtests.analyse.runs import simultaneous as simultaneous_runs


def sample(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def normal(blocks: int, seed: int = 0) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).normal(0, 1, blocks)]


def test_interval_is_symmetric_about_the_median_and_repeatable() -> None:
    values = normal(10)
    found = alone(values)
    assert found.estimate == pytest.approx(np.median(values))
    assert (found.low + found.high) / 2 == pytest.approx(found.estimate)
    assert found.method == "bootstrap"
    assert alone(values) == found


def test_few_blocks_use_students_t() -> None:
    found = alone([1.0, 2.0, 3.0])
    assert found.method == "student"
    # 4.303 is the t table's 97.5% point at 2 degrees of freedom; the standard error is 1 / sqrt(3).
    assert found.high == pytest.approx(2 + 4.303 / 3**0.5, abs=0.001)


def test_one_block_knows_no_interval() -> None:
    found = alone([1.0])
    assert (found.estimate, found.low, found.high, found.method) == (1.0, -inf, inf, "none")


def test_no_block_knows_nothing() -> None:
    assert alone([]).method == "none"


def test_equal_values_are_a_point() -> None:
    found = alone([0.5] * 8)
    assert (found.low, found.high, found.method) == (0.5, 0.5, "constant")


@pytest.mark.parametrize("blocks", [3, 10])
def test_each_further_comparison_widens_the_intervals(blocks: int) -> None:
    samples = [sample(normal(blocks, seed)) for seed in range(6)]
    one = simultaneous(samples[:1])[0]
    together = simultaneous(samples)[0]
    assert together.high - together.low > one.high - one.low


def test_comparisons_that_move_together_cost_less_than_independent_ones() -> None:
    first = normal(10)
    copies = simultaneous([sample(first)] * 6)[0]
    others = simultaneous([sample(first), *(sample(normal(10, seed)) for seed in range(1, 6))])[0]
    assert copies == alone(first)
    assert copies.high < others.high


def test_sample_without_one_of_the_blocks_still_gets_its_interval() -> None:
    full, gap = sample(normal(10)), sample(normal(10, 1))
    del gap[3]
    found = simultaneous([full, gap])
    assert [one.method for one in found] == ["bootstrap", "bootstrap"]


def test_one_wild_block_moves_the_median_little() -> None:
    values = normal(20)
    found = alone([*values[:-1], 100.0])
    assert abs(found.estimate - float(np.median(values))) < 0.5


def test_quantiles_are_balanced() -> None:
    # Two independent columns: each must be inside in sqrt(95%) = 97.5% of the rows for both to be in 95%.
    roots = np.random.default_rng(0).uniform(size=(20000, 2)) * [1.0, 10.0]
    quantiles = balanced_quantiles(dict(enumerate(roots.T)), 0.05)
    assert quantiles[0] == pytest.approx(0.975, abs=0.005)
    assert quantiles[1] == pytest.approx(9.75, abs=0.05)


def test_two_runs_with_the_same_figures_are_certainly_equal() -> None:
    values = np.array(normal(10))
    found = simultaneous_runs([(values, values)])[0]
    assert (found.low, found.high) == (0.0, 0.0)


@pytest.mark.parametrize("blocks", [4, 10])
def test_interval_between_two_runs_covers_their_difference(blocks: int) -> None:
    before, after = np.array(normal(blocks)), np.array(normal(blocks, 1)) + 20
    found = simultaneous_runs([(before, after)])[0]
    assert found.low < 20 < found.high
    assert found.low > 10


@pytest.mark.parametrize("blocks", [2, 4, 8])
def test_ratios_that_differ_by_rounding_alone_are_constant(blocks: int) -> None:
    ratios = [log(3 * (1 + block / 100)) - log(1 + block / 100) for block in range(blocks)]
    assert blocks == 2 or len(set(ratios)) > 1
    found = alone(ratios)
    assert found.method == "constant"
    assert (found.low, found.high) == (found.estimate, found.estimate)


def test_a_spread_that_is_small_and_real_is_no_rounding() -> None:
    assert alone([0.0, 1e-9, 2e-9]).method == "student"
